//! The TUN device of a mesh, with its address and route: set up whole, or not at all.

use std::io::{self, ErrorKind, Write};
use std::net::Ipv6Addr;

use sixlo_host::routes;
use sixlo_host::tun::Tun;
use sixlo_sim::stack_host::OUTSIDE_MTU;
use sixlo_sim::world::Plan;

use super::super::Failure;

const PREFIX_LEN: u8 = 64;

/// The longest name of a device in Linux, in bytes.
const NAME_LEN_MAX: usize = 15;

/// A device that is set up.
pub(super) struct Device {
    pub(super) tun: Tun,
    name: String,
    address: Ipv6Addr,
    router: Ipv6Addr,
    mesh: Ipv6Addr,
}

/// Checks the name of a device.
pub(super) fn name(text: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | ':' | '%');
    if (1..=NAME_LEN_MAX).contains(&text.len()) && text.chars().all(is_name) && !matches!(text, "." | "..") {
        Ok(text.to_owned())
    } else {
        Err(format!("1 to {NAME_LEN_MAX} letters, digits, `-`, `_` or `.`"))
    }
}

/// Opens a device for a mesh. Where anything fails, what was set up before is gone with the device.
pub(super) fn open(name: &str, plan: &Plan) -> Result<Device, Failure> {
    let border = plan.config.border.clone().unwrap_or_default();
    let mesh = plan.config.link.prefix;
    if Tun::is_taken(name) {
        return refuse(format!(
            "a network device `{name}` exists already; give another name with --tun"
        ));
    }
    for (prefix, remedy) in [
        (mesh, "give the mesh another prefix with --prefix"),
        (
            border.outside,
            "give the link to the border router another one with `outside` in [border]",
        ),
    ] {
        let routed = routes::into_network(prefix, PREFIX_LEN)
            .map_err(|error| Failure::Io("the routes of this host".to_owned(), error))?;
        if let Some(route) = routed {
            return refuse(format!(
                "this host has a route to {prefix}/{PREFIX_LEN} already ({route}); {remedy}"
            ));
        }
    }
    let address = border.other_address();
    let tun =
        Tun::open_with(name, OUTSIDE_MTU, address, PREFIX_LEN).or_else(|error| refuse(why(name, &error)))?;
    let index = tun.index().map_err(|error| Failure::Io(name.to_owned(), error))?;
    routes::add(mesh, PREFIX_LEN, index).or_else(|error| {
        refuse(format!("the route to {mesh}/{PREFIX_LEN} by {name} was not accepted: {error}; is IPv6 switched off on this host?"))
    })?;
    Ok(Device {
        tun,
        name: name.to_owned(),
        address,
        router: border.own_address(),
        mesh,
    })
}

fn refuse<T>(sentence: String) -> Result<T, Failure> {
    Err(Failure::Refused(sentence))
}

/// Why there is no device, and what helps.
fn why(name: &str, error: &io::Error) -> String {
    let program = "sixlo live";
    match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "no right to open a TUN device; use `sudo {program}`, or `unshare --net --map-root-user {program}` for a network of its own, or --no-tun"
        ),
        ErrorKind::NotFound => {
            "there is no /dev/net/tun; load the module with `sudo modprobe tun`, or use --no-tun".to_owned()
        }
        ErrorKind::ResourceBusy => format!("the TUN device `{name}` is in use; give another name with --tun"),
        _ => format!(
            "the TUN device `{name}` could not be set up: {error}; give another name with --tun, or use --no-tun"
        ),
    }
}

impl Device {
    /// Says what was set on this host.
    pub(super) fn tell(&self, out: &mut impl Write) -> io::Result<()> {
        let Self {
            name,
            address,
            router,
            mesh,
            ..
        } = self;
        writeln!(
            out,
            "device {name}: address {address}/{PREFIX_LEN}, route to {mesh}/{PREFIX_LEN}; both go when this program ends"
        )?;
        writeln!(out, "the border router answers at {router}")
    }
}
