//! nginx in front of several replicas, with its own configuration and folder.

use std::{fs, process::Command};

use crate::{
    Error,
    client::Target,
    program::{Program, find, folder, free_port},
};

/// Starts nginx, which distributes requests to these services, least busy first.
pub(super) fn balance(replicas: &[&Target]) -> Result<Program, Error> {
    let program = find("nginx").ok_or_else(|| Error::Missing {
        program: "nginx".to_owned(),
        hint: "apt-get install nginx-light".to_owned(),
    })?;
    let folder = folder()?;
    let port = free_port()?;
    let servers: String = replicas
        .iter()
        .filter_map(|target| match target {
            Target::Tcp(address) => Some(format!("server {address};\n")),
            _ => None,
        })
        .collect();
    let root = folder.path().display();
    // A master that runs as root drops its privileges: its workers must be able to use the folder.
    let user = match rustix::process::geteuid().is_root() {
        true => "user root;",
        false => "",
    };
    let text = format!(
        "{user}
worker_processes 2;
daemon off;
pid {root}/nginx.pid;
error_log {root}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {root}/body;
    proxy_temp_path {root}/proxy;
    fastcgi_temp_path {root}/fastcgi;
    uwsgi_temp_path {root}/uwsgi;
    scgi_temp_path {root}/scgi;
    client_max_body_size 64m;
    client_body_buffer_size 4m;
    upstream replicas {{ least_conn; {servers} keepalive 64; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://replicas;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_set_header Host localhost;
            proxy_buffers 64 64k;
            proxy_read_timeout 180s;
        }}
    }}
}}
"
    );
    let file = folder.path().join("nginx.conf");
    fs::write(&file, text).map_err(Error::file("write", &file))?;
    let mut command = Command::new(program);
    command.arg("-c").arg(&file).arg("-p").arg(folder.path());
    let target = Target::Tcp(format!("127.0.0.1:{port}"));
    let mut nginx = Program::start("nginx", command, folder, target)?;
    nginx.wait_ready("/health/ready")?;
    Ok(nginx)
}
