//! Addresses that cannot be understood, and a server that says no: one line that helps.

use platen_fault::{Backend, Code, Resource};
use platen_storage::{Error, PostgresStore, SchemaVersions};

use super::{options, server};

async fn refusal(url: &str) -> Error {
    let Err(error) = PostgresStore::open(url, &options()).await else {
        panic!("{url} was opened");
    };
    let said = error.to_string();
    assert!(
        !said.contains("correct-horse") && !said.contains('\n'),
        "{said}"
    );
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_is_told_what_to_do() {
    let Some(server) = server::shared().await else {
        return;
    };
    let name = server.database_name().await;
    let url = server.url(&name);
    let setup = "DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'correct-horse'";
    server.execute("postgres", setup).await;
    // As PostgreSQL has it since version 15.
    let revoke = "REVOKE CREATE ON SCHEMA public FROM PUBLIC";
    server.execute(&name, revoke).await;
    let none = server.url("no_such_database");
    for (url, reason) in [
        (
            url.replace("correct-horse", "wrong"),
            "check user and password",
        ),
        (none, "CREATE DATABASE no_such_database OWNER platen"),
        (
            url.replace("platen:", "guest:"),
            "GRANT CREATE, USAGE ON SCHEMA public TO guest",
        ),
        (
            format!("{url}?sslmode=require"),
            "check the password and sslmode",
        ),
    ] {
        let error = refusal(&url).await;
        assert!(matches!(error, Error::Server(_)), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
        let code = error.code(Resource::Run);
        assert_eq!(code, Code::BackendUnavailable(Backend::Store));
    }
    for (url, reason) in [
        ("mysql://u@h/d".to_owned(), "postgres://"),
        (format!("{url}?sslmode=maybe"), "sslmode"),
        (
            format!("{url}?sslmode=verify-full&sslrootcert=/none"),
            "/none",
        ),
    ] {
        let error = refusal(&url).await;
        assert!(matches!(error, Error::Address(_)), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_database_is_refused() {
    let Some(server) = server::shared().await else {
        return;
    };
    let name = server.database_name().await;
    let url = server.url(&name);
    let versions = async || {
        let versions = PostgresStore::schema_versions(&url, &options()).await;
        versions.unwrap()
    };
    let SchemaVersions { found, known } = versions().await;
    assert_eq!(found, 0);
    drop(PostgresStore::open(&url, &options()).await.unwrap());
    assert_eq!(versions().await.found, known);
    let newer = "INSERT INTO platen_schema (version) VALUES (99)";
    server.execute(&name, newer).await;
    let error = refusal(&url).await;
    assert!(
        matches!(error, Error::TooNew { found: 99, .. }),
        "{error:?}"
    );
    assert_eq!(versions().await.found, 99);
}

/// The tables of somebody else stay as they are.
#[tokio::test(flavor = "multi_thread")]
async fn a_migration_happens_completely_or_not_at_all() {
    let Some(server) = server::shared().await else {
        return;
    };
    let name = server.database_name().await;
    server.execute(&name, "CREATE TABLE runs (mine int)").await;
    let error = refusal(&server.url(&name)).await;
    assert!(matches!(error, Error::Server(_)), "{error:?}");
    assert!(error.to_string().contains("of its own"), "{error}");
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(server.number(&name, tables).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unix_socket_and_a_limit_of_statements() {
    let Some(server) = server::shared().await else {
        return;
    };
    let name = server.database_name().await;
    let url = server.socket_url(&name);
    let store = PostgresStore::open(&url, &options()).await.unwrap();
    store.templates().check().await.unwrap();
    let limited = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'platen'";
    assert!(server.number(&name, limited).await >= 1);
}
