//! A static file server for one folder and this machine only.

use anyhow::{Context, Result};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Component, Path, PathBuf},
    thread,
    time::Duration,
};

/// A request is a line and some headers; a browser's fit into a fraction of this.
const MAX_REQUEST_BYTES: u64 = 64 * 1024;
const TIMEOUT: Duration = Duration::from_secs(10);

pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    folder: PathBuf,
}

impl Server {
    /// Listens; port 0 lets the system choose.
    pub fn bind(port: u16, folder: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("cannot listen on port {port}; choose another with --port"))?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            folder: folder.to_owned(),
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn announce(self) -> Self {
        println!("\nserving {} (stop with Ctrl-C)", self.url());
        self
    }

    /// Answers until the process ends.
    pub fn run(self) {
        for stream in self.listener.incoming() {
            let folder = self.folder.clone();
            // A connection that breaks is the browser's business: it will ask again.
            thread::spawn(move || stream.and_then(|stream| answer(stream, &folder)));
        }
    }
}

/// One request per connection keeps this simple; on one machine nobody notices.
fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut lines = BufReader::new((&stream).take(MAX_REQUEST_BYTES)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    // Unread headers would turn our close into a reset.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let (status, kind, body) = respond(&request, folder);
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if !request.starts_with("HEAD ") {
        stream.write_all(&body)?;
    }
    stream.flush()
}

fn respond(request: &str, folder: &Path) -> (&'static str, &'static str, Vec<u8>) {
    let refuse = |status: &'static str| (status, "text/plain", status.as_bytes().to_vec());
    let mut words = request.split(' ');
    let (Some("GET" | "HEAD"), Some(path)) = (words.next(), words.next()) else {
        return refuse("405 Method Not Allowed");
    };
    let Some(file) = file_of(path, folder) else {
        return refuse("404 Not Found");
    };
    match fs::read(&file) {
        Ok(body) => ("200 OK", content_type(&file), body),
        Err(_) => refuse("404 Not Found"),
    }
}

/// The file a request means, if it is inside the folder.
fn file_of(path: &str, folder: &Path) -> Option<PathBuf> {
    let path = path.split(['?', '#']).next()?.strip_prefix('/')?;
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    let is_plain = |part| matches!(part, Component::Normal(_));
    path.components().all(is_plain).then(|| folder.join(path))
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        // Browsers compile while they download only what is declared as this.
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let folder = Path::new("page");
        assert_eq!(file_of("/", folder), Some(folder.join("index.html")));
        assert_eq!(file_of("/a.js?v=1", folder), Some(folder.join("a.js")));
        assert_eq!(file_of("/../secret", folder), None);
        assert_eq!(file_of("//etc/passwd", folder), None);
        assert_eq!(file_of("a.js", folder), None);
    }

    #[test]
    fn only_reading() {
        let (status, _, _) = respond("POST / HTTP/1.1", Path::new("page"));
        assert_eq!(status, "405 Method Not Allowed");
        let (status, _, _) = respond("", Path::new("page"));
        assert_eq!(status, "405 Method Not Allowed");
    }
}
