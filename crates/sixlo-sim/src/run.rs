//! A run: a function of a configuration and a seed.

use std::net::Ipv6Addr;
use std::sync::Arc;

use crate::config::{Config, Problem};
use crate::observer::Observer;
use crate::result::{RunError, RunResult};
use crate::stack_host::{Heap, Setup, StackHost, address};
use crate::world::{Plan, World};

#[cfg(test)]
mod tests;

/// Runs a configuration with a seed, and tells `observer` what happens; `&mut ()` if nobody watches.
///
/// The same configuration and seed give the same result and the same calls of the observer, on any machine.
///
/// # Errors
///
/// If the configuration is wrong, or if at the end not every datagram is accounted for: the latter is a mistake in the
/// stack or the simulator, and checked always.
pub fn run(config: &Config, seed: u64, observer: &mut impl Observer) -> Result<RunResult, RunError> {
    run_plan(&Plan::new(config, seed)?, observer)
}

/// Runs a plan: see [`run`].
///
/// # Errors
///
/// See [`run`].
pub fn run_plan(plan: &Plan, observer: &mut impl Observer) -> Result<RunResult, RunError> {
    let (result, imbalances) = with_world(plan, observer, |mut world| {
        world.run();
        world.finish()
    })?;
    if imbalances.is_empty() {
        Ok(result)
    } else {
        Err(RunError::Unbalanced {
            imbalances,
            result: Box::new(result),
        })
    }
}

/// Builds the world of a plan and gives it to `body`, which lets time pass in it.
///
/// # Errors
///
/// If the plan cannot be run.
pub fn with_world<O: Observer, R>(
    plan: &Plan,
    observer: &mut O,
    body: impl FnOnce(World<'_, StackHost<'_>, O>) -> R,
) -> Result<R, Problem> {
    let setups = Setup::all(plan);
    let addresses: Arc<[Ipv6Addr]> = plan.network.indices().map(|index| address(plan, index)).collect();
    let mut memory: Vec<Heap> = setups
        .iter()
        .map(|setup| Heap::new(&plan.config.stack, setup))
        .collect();
    let hosts = setups
        .into_iter()
        .zip(&mut memory)
        .map(|(setup, heap)| StackHost::new(setup, heap, Arc::clone(&addresses)));
    Ok(body(World::new(plan, hosts, observer)?))
}
