//! Extractors: the parts of a request, each checked before the handler runs.

mod body;
mod caller;
mod change;
mod conditional;
mod image;
mod map_viewer;
mod once;
mod operator;
mod params;
mod path;
mod receive;
mod rows;
mod submission;

pub use body::{BODY_MAX, BODY_VALUES_MAX, CREDENTIALS_MAX, Credentials, JsonBody, SUBMISSION_MAX};
pub use caller::{Call, Caller, SessionCaller, Submitter, require_open_account};
pub use change::{Change, JSON_PATCH};
pub use conditional::{Preconditions, entity_tag};
pub use image::ImageBody;
pub use map_viewer::MapViewer;
pub use once::{Held, Once};
pub use operator::OperatorCaller;
pub use params::{ListPart, Params};
pub use path::{DeviceFilePath, DevicePath, IdPath, IdsPath, TextPath};
pub use receive::read_body;
pub use rows::{ReadRows, RowLayout, RowsBody};
pub use submission::{Packed, Read, Submission};
