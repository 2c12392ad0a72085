//! Signals between services, with losses.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use platen_storage::Signal;
use tokio::sync::broadcast;

use crate::{handle::MAX_SIGNALS, random::SplitMix};

/// The services that are there, and what carries their signals.
pub struct Network {
    services: Mutex<BTreeMap<String, broadcast::Sender<Signal>>>,
    /// The share of messages that reach a service.
    arrive: f64,
    random: Mutex<SplitMix>,
}

impl Network {
    pub fn new(arrive: f64, seed: u64) -> Self {
        Self {
            services: Mutex::default(),
            arrive,
            random: Mutex::new(SplitMix(seed)),
        }
    }

    pub fn join(&self, service: &str) {
        let inbox = broadcast::Sender::new(MAX_SIGNALS);
        self.services.lock().insert(service.to_owned(), inbox);
    }

    pub fn leave(&self, service: &str) {
        self.services.lock().remove(service);
    }

    pub fn is_there(&self, service: &str) -> bool {
        self.services.lock().contains_key(service)
    }

    pub fn len(&self) -> usize {
        self.services.lock().len()
    }

    pub fn listen(&self, service: &str) -> broadcast::Receiver<Signal> {
        match self.services.lock().get(service) {
            Some(inbox) => inbox.subscribe(),
            None => broadcast::Sender::new(1).subscribe(),
        }
    }

    /// Delivers a message to all services but its sender, or to those that it reaches.
    pub fn deliver(&self, sender: &str, signals: &[Signal]) {
        for (service, inbox) in &*self.services.lock() {
            if service == sender || self.random.lock().share() >= self.arrive {
                continue;
            }
            for signal in signals {
                let _ = inbox.send(signal.clone());
            }
        }
    }
}
