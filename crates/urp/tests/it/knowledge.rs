//! What a running soffice reports about itself.

use platen_urp::{Setting, codec::Any};

use crate::soffice::{Soffice, program};

#[tokio::test(flavor = "multi_thread")]
async fn version_locale_services_filters_types_and_settings() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = soffice.client().await;
    let version = client.version().await.unwrap();
    assert!(version.split('.').count() >= 3, "{version}");
    assert!(client.locale().await.unwrap().contains("en"));
    let services = client.services().await.unwrap();
    assert!(services.iter().any(|it| it == "com.sun.star.frame.Desktop"));
    let filters = client.filters().await.unwrap();
    assert!(filters.iter().any(|it| it == "writer_pdf_Export"));
    let types = client.types().await.unwrap();
    assert!(types.iter().any(|it| it == "writer8"));
    let docx = client.type_of_url("file:///a/letter.docx").await.unwrap();
    // The second since 25.2.
    assert!(["writer_MS_Word_2007", "writer_OOXML"].contains(&&*docx));
    let all = client.describe_filters().await.unwrap();
    let find = |name: &str| all.iter().find(|it| it.name == name).unwrap();
    let pdf = find("writer_pdf_Export");
    assert!(pdf.exports() && !pdf.imports() && !pdf.is_internal());
    assert_eq!(pdf.document_service, "com.sun.star.text.TextDocument");
    assert_eq!(
        (&*pdf.extension, &*pdf.media_type),
        ("pdf", "application/pdf")
    );
    assert!(find("writer8").imports() && find("writer8").exports());

    let path = "/org.openoffice.Office.Common/Save/Document";
    let before = client.setting(path, "AutoSaveTimeIntervall").await.unwrap();
    let other = Any::from(if before == Any::from(7) { 8 } else { 7 });
    let setting = Setting {
        path: path.to_owned(),
        property: "AutoSaveTimeIntervall".to_owned(),
        value: other.clone(),
    };
    client.change_settings(&[setting]).await.unwrap();
    let after = client.setting(path, "AutoSaveTimeIntervall").await.unwrap();
    assert_eq!(after, other);
    let missing = client.setting(path, "NoSuchThing").await;
    assert!(matches!(missing, Err(platen_urp::Error::Exception(_))));
    assert_eq!(client.close_documents().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_several_tasks_do_not_mix() {
    let Some(program) = program() else { return };
    let soffice = Soffice::start(&program).await;
    let client = std::sync::Arc::new(soffice.client().await);
    let tasks: Vec<_> = (0..8)
        .map(|turn| {
            let client = client.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    match turn % 2 {
                        0 => assert!(client.version().await.unwrap().contains('.')),
                        _ => assert!(client.locale().await.unwrap().contains("en")),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}
