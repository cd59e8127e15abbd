//! Forwarding headers as a handler sees them; the many spellings are tested beside the code.

use perigee_server::serve::{ServeConfig, TrustedProxies};

use crate::client::{connect, http2_client, send, soon, until_closed};
use crate::server::{TestServer, patient};

async fn whoami(trusted: &str, headers: &str) -> String {
    let trusted_proxies = TrustedProxies::new(vec![trusted.parse().unwrap()]);
    let server = TestServer::start(ServeConfig { trusted_proxies, ..patient() }).await;
    let mut connection = connect(server.address).await;
    let request = format!("GET /whoami HTTP/1.1\r\nhost: own.example\r\nconnection: close\r\n{headers}\r\n");
    send(&mut connection, request).await;
    let answer = String::from_utf8(until_closed(&mut connection).await).unwrap();
    server.stop().await;
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

const SPOOFED: &str = "x-forwarded-for: 192.0.2.66, 198.51.100.7\r\n\
    x-forwarded-proto: https\r\nx-forwarded-host: public.example\r\n";

#[tokio::test]
async fn headers_of_a_trusted_proxy_are_believed_from_the_right() {
    assert_eq!(whoami("127.0.0.0/8", SPOOFED).await, "198.51.100.7 https://public.example");
}

#[tokio::test]
async fn headers_of_anybody_else_are_not() {
    assert_eq!(whoami("10.0.0.0/8", SPOOFED).await, "127.0.0.1 http://own.example");
}

#[tokio::test]
async fn http2_names_its_host_in_the_authority() {
    let server = TestServer::start(patient()).await;
    let address = format!("http://{}/whoami", server.address);
    let answer = soon(http2_client().get(address).send()).await.unwrap();
    assert_eq!(soon(answer.text()).await.unwrap(), format!("127.0.0.1 http://{}", server.address));
    server.stop().await;
}
