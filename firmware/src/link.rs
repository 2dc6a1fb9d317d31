//! A link over the first serial line: each frame goes as a byte of length and its bytes. Nothing is lost, and nobody else
//! sends, so every frame counts as acknowledged.

use sixlo::netdev::{FRAME_LEN_MAX, TxOutcome, TxReport};

use crate::board::{Irq, Register};

/// The serial line of the kind "CMSDK APB UART", and the frame that comes in.
pub struct Link {
    data: Register,
    state: Register,
    interrupt: Register,
    frame: [u8; FRAME_LEN_MAX],
    /// Bytes of the frame that are there.
    filled: usize,
    /// Bytes that the frame has; 0 before its length came in.
    len: usize,
}

impl Link {
    const SEND_FULL: u32 = 1;
    const RECEIVED: u32 = 1 << 1;
    const SEND_RECEIVE_INTERRUPT: u32 = 0b1011;

    /// Starts the link. A byte that comes in wakes the processor.
    pub fn start() -> Self {
        let uart = 0x4000_4000;
        // SAFETY: this is the board's first serial line.
        let (data, state, control, interrupt, divisor) = unsafe {
            (
                Register::at(uart),
                Register::at(uart + 4),
                Register::at(uart + 8),
                Register::at(uart + 12),
                Register::at(uart + 16),
            )
        };
        divisor.write(16);
        control.write(Self::SEND_RECEIVE_INTERRUPT);
        Irq::Uart0Receive.enable();
        Self {
            data,
            state,
            interrupt,
            frame: [0; FRAME_LEN_MAX],
            filled: 0,
            len: 0,
        }
    }

    /// The frame that has come in, if one is whole.
    pub fn receive(&mut self) -> Option<&[u8]> {
        while self.state.read() & Self::RECEIVED != 0 {
            self.interrupt.write(Self::RECEIVED);
            let byte = self.data.read() as u8;
            cortex_m::peripheral::NVIC::unpend(Irq::Uart0Receive);
            if self.len == 0 {
                self.len = usize::from(byte).min(FRAME_LEN_MAX);
                self.filled = 0;
                continue;
            }
            if let Some(place) = self.frame.get_mut(self.filled) {
                *place = byte;
            }
            self.filled += 1;
            if self.filled == self.len {
                let len = core::mem::take(&mut self.len);
                return self.frame.get(..len);
            }
        }
        None
    }

    /// Sends a frame.
    pub fn send(&mut self, frame: &[u8]) -> TxReport {
        self.put(frame.len() as u8);
        for byte in frame {
            self.put(*byte);
        }
        TxReport {
            outcome: TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        }
    }

    fn put(&mut self, byte: u8) {
        while self.state.read() & Self::SEND_FULL != 0 {}
        self.data.write(byte.into());
    }
}
