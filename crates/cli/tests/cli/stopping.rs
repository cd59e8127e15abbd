//! Accepted work is finished and counters are saved when the service is stopped.

use std::io::{Read, Write};

use serde_json::json;

use crate::client::{Answer, connect, send, token};
use crate::process::{Folder, Server, json as json_of};

#[test]
fn accepted_work_is_finished_after_sigterm() {
    let folder = Folder::new();
    let data = folder.data();
    let server = Server::start(&data);
    let key = json_of(&data, "key issue --email owner@localhost");
    let bearer = token(&server.url, "owner@localhost", &key["apiKey"]);
    let body = json!({"name": "Northern Star"}).to_string();
    let mut stream = connect(&server.url);
    write!(
        stream,
        "POST /api/devices HTTP/1.1\r\nHost: test\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nAuthorization: Bearer {bearer}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n", "the request is accepted now");
    server.terminate();
    stream.write_all(body.as_bytes()).unwrap();
    let made = Answer::read(&mut stream).expect(201);
    let (status, _) = server.wait();
    assert!(status.success(), "{status}");

    let again = Server::start(&data);
    let path = format!("GET /api/devices/{}", made["device"]["id"].as_str().unwrap());
    send(&again.url, &path, Some(&bearer), None).expect(200);
    again.stop();
}

#[test]
fn calls_counted_before_a_stop_are_counted_after_it() {
    let folder = Folder::new();
    let data = folder.data();
    let server = Server::start(&data);
    let key = json_of(&data, "key issue --email owner@localhost");
    let bearer = token(&server.url, "owner@localhost", &key["apiKey"]);
    for _ in 0..4 {
        send(&server.url, "GET /api/groups", Some(&bearer), None).expect(200);
    }
    let before = send(&server.url, "GET /api/groups", Some(&bearer), None).expect(200);
    server.stop();
    let again = Server::start(&data);
    let after = send(&again.url, "GET /api/groups", Some(&bearer), None).expect(200);
    assert_eq!(after["apiUsage"].as_u64(), before["apiUsage"].as_u64().map(|calls| calls + 1));
    again.stop();
}
