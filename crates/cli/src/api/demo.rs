//! The client as the server that the demo fills.

use anyhow::{Context, Result};
use async_trait::async_trait;
use perigee_simulator::demo::DemoServer;
use reqwest::Method;
use serde_json::Value;

use super::client::Api;
use super::locations::Submission;

#[async_trait]
impl DemoServer for Api {
    async fn post(&self, path: &[&str], body: &Value) -> Result<Value> {
        let answer = self.call(Method::POST, self.url(path)?, |request| request.json(body)).await?;
        answer.json().await.context("the answer cannot be read")
    }

    async fn put(&self, path: &[&str], body: &Value) -> Result<()> {
        self.call(Method::PUT, self.url(path)?, |request| request.json(body)).await?;
        Ok(())
    }

    async fn submit(&self, identifier: &str, lines: Vec<u8>, count: usize) -> Result<()> {
        Self::submit(self, identifier, &Submission::new(lines, count)?).await?;
        Ok(())
    }
}
