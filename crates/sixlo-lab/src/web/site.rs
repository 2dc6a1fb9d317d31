//! What is at which address of the server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::Serialize;

use super::assets::ASSETS;
use super::http::{Answer, Request, Site};
use super::replay::Replay;

/// The port where nothing else is said: that of IEEE 802.15.4.
const PORT: u16 = 8154;

/// Reads where a server is to listen: a port, or an address and a port. A port alone is one of this machine only.
///
/// # Errors
///
/// What would be right.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    text.parse().or_else(|_| text.parse().map(local)).map_err(|_| {
        "a port like 8154, or an address and a port like 127.0.0.1:8154 or [::1]:8154".to_owned()
    })
}

/// Where a server listens if nothing is said.
pub const fn default_address() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT)
}

/// A file of the page.
pub(super) fn asset(path: &str) -> Option<Answer> {
    let (_, media, body) = ASSETS.iter().find(|(name, ..)| *name == path)?;
    Some(Answer::Whole {
        status: 200,
        media,
        body: body.as_bytes().to_vec(),
    })
}

pub(super) fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(body) => Answer::Whole {
            status: 200,
            media: "application/json",
            body,
        },
        Err(error) => Answer::text(500, &error.to_string()),
    }
}

pub(super) fn not_found() -> Answer {
    Answer::text(404, "there is nothing here")
}

/// What was found, or that nothing was, or why it cannot be read.
fn found<T>(read: io::Result<Option<T>>, answer: impl FnOnce(T) -> Answer) -> Answer {
    match read {
        Ok(Some(found)) => answer(found),
        Ok(None) => not_found(),
        Err(error) => Answer::text(500, &format!("the trace cannot be read: {error}")),
    }
}

impl Site for Replay {
    fn answer(&self, request: &Request) -> Answer {
        if request.is_post {
            return Answer::text(405, "a recorded run cannot be changed");
        }
        if let Some(asset) = asset(&request.path) {
            return asset;
        }
        match request.path.as_str() {
            "/mesh" => json(self.mesh()),
            "/chunk" => match request
                .number("n")
                .and_then(|number| usize::try_from(number).ok())
            {
                Some(number) => found(self.chunk(number), |body| Answer::Whole {
                    status: 200,
                    media: "application/x-ndjson",
                    body,
                }),
                None => not_found(),
            },
            "/node" => match (request.number("n"), request.number("at")) {
                (Some(number), Some(at)) => {
                    let number = u16::try_from(number).unwrap_or(0);
                    found(self.node(number, at), |detail| json(&detail))
                }
                _ => not_found(),
            },
            _ => not_found(),
        }
    }
}
