//! Prints the exceptions that a running LibreOffice knows, and the structs and enums inside them, as the codec's table
//! wants them: `cargo run -p platen-urp --example exceptions -- /tmp/OSL_PIPE_0_name`.

use std::{collections::BTreeMap, path::Path};

use platen_urp::{
    Bridge, Client, Error, Options, Reference,
    codec::{TypeClass, Value},
};

const COMPOUND: &str = "com.sun.star.reflection.XCompoundTypeDescription";
const PLAIN: &str = "com.sun.star.reflection.XTypeDescription";

#[tokio::main]
async fn main() -> Result<(), Error> {
    let pipe = std::env::args().nth(1).unwrap_or_default();
    let bridge = Bridge::connect_unix(Path::new(&pipe), Options::default()).await?;
    let client = Client::over(bridge).await?;
    let manager = "com.sun.star.reflection.theTypeDescriptionManager";
    let manager = client.singleton(manager).await?;
    let access = "com.sun.star.reflection.XTypeDescriptionEnumerationAccess";
    let access = manager.query(access).await?;
    let names = manager
        .query("com.sun.star.container.XHierarchicalNameAccess")
        .await?;
    let wanted = vec![
        "com.sun.star".into(),
        Value::Sequence(vec![Value::Enum(TypeClass::Exception as i32)]),
        Value::Enum(-1),
    ];
    let all = "com.sun.star.reflection.XTypeDescriptionEnumeration";
    let all = access.get_reference("createTypeDescriptionEnumeration", wanted, all);
    let all = all.await?.ok_or(Error::Unexpected("enumeration"))?;
    let mut lines = BTreeMap::new();
    while let Value::Boolean(true) = all.get("hasMoreElements", vec![]).await? {
        let found = all.get_reference("nextTypeDescription", vec![], PLAIN);
        if let Some(found) = found.await? {
            describe(&names, &found.query(COMPOUND).await?, &mut lines).await?;
        }
    }
    for line in lines.values() {
        println!("{line}");
    }
    Ok(())
}

async fn describe(
    names: &Reference,
    compound: &Reference,
    lines: &mut BTreeMap<String, String>,
) -> Result<(), Error> {
    let (name, class) = name_and_class(compound).await?;
    if lines.contains_key(&name) || name.contains('<') {
        return Ok(());
    }
    lines.insert(name.clone(), String::new());
    let kind = match class {
        TypeClass::Struct => "struct",
        _ => "exception",
    };
    let mut line = format!("{kind} {}", short(&name));
    let base = compound.get_reference("getBaseType", vec![], PLAIN).await?;
    if let Some(base) = base {
        let base = base.query(COMPOUND).await?;
        line.push_str(&format!(" : {}", short(&name_and_class(&base).await?.0)));
        Box::pin(describe(names, &base, lines)).await?;
    }
    let types = compound.get("getMemberTypes", vec![]).await?;
    let member_names = compound.get("getMemberNames", vec![]).await?;
    let (Value::Sequence(types), Value::Sequence(member_names)) = (types, member_names) else {
        return Err(Error::Unexpected("getMemberTypes"));
    };
    let mut members = Vec::new();
    for (ty, member) in types.into_iter().zip(member_names) {
        let Some(Some(ty)) = compound.adopt(ty, PLAIN) else {
            continue;
        };
        let (ty_name, _) = name_and_class(&ty).await?;
        let element = ty_name.trim_start_matches("[]");
        inside(names, element, lines).await?;
        let Value::String(member) = member else {
            continue;
        };
        let dimensions = &ty_name[..ty_name.len() - element.len()];
        members.push(format!("{dimensions}{} {member}", short(element)));
    }
    if !members.is_empty() {
        line.push_str(&format!(" {}", members.join(", ")));
    }
    lines.insert(name, line);
    Ok(())
}

/// Types of members that must be known, too.
async fn inside(
    names: &Reference,
    element: &str,
    lines: &mut BTreeMap<String, String>,
) -> Result<(), Error> {
    if !element.contains('.') || lines.contains_key(element) {
        return Ok(());
    }
    let arguments = vec![element.into()];
    let found = names
        .get_reference("getByHierarchicalName", arguments, PLAIN)
        .await?;
    let Some(found) = found else { return Ok(()) };
    match name_and_class(&found.query(PLAIN).await?).await?.1 {
        TypeClass::Interface => {
            let line = format!("interface {}", short(element));
            lines.insert(element.to_owned(), line);
        }
        TypeClass::Enum => {
            let line = format!("enum {}", short(element));
            lines.insert(element.to_owned(), line);
        }
        _ => Box::pin(describe(names, &found.query(COMPOUND).await?, lines)).await?,
    }
    Ok(())
}

async fn name_and_class(ty: &Reference) -> Result<(String, TypeClass), Error> {
    let name = ty.get("getName", vec![]).await?;
    let class = ty.get("getTypeClass", vec![]).await?;
    match (name, class) {
        (Value::String(name), Value::Enum(class)) => {
            let class = u8::try_from(class).unwrap_or(u8::MAX);
            Ok((name, TypeClass::from_byte(class)?))
        }
        _ => Err(Error::Unexpected("getName")),
    }
}

fn short(name: &str) -> String {
    name.replace("com.sun.star.", ".")
}
