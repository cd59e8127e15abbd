//! Plans of voyages, shifts and hikes.

pub mod actions;
pub mod handlers;
mod input;
pub mod links;
pub mod nudge;
pub mod rescue;
mod rescue_pdf;
pub mod travel_page;
mod view;
