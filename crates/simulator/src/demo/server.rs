//! The server as the demo uses it; the command line implements it with its HTTP client.

use anyhow::Result;
use async_trait::async_trait;
use serde_json::Value;

/// A server that the demo fills through its API.
#[async_trait]
pub trait DemoServer: Send + Sync {
    /// Creates an object: sends this body to a path below the base URL and returns the answer.
    async fn post(&self, path: &[&str], body: &Value) -> Result<Value>;

    /// Replaces the resource at a path below the base URL by this body.
    async fn put(&self, path: &[&str], body: &Value) -> Result<()>;

    /// Submits `count` locations of the device with this identifier, one JSON object per line.
    async fn submit(&self, identifier: &str, lines: Vec<u8>, count: usize) -> Result<()>;
}
