//! Differences between two versions, as JSON Patch operations (RFC 6902), each with the replaced
//! value.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

/// Most changes in a diff.
pub(crate) const MAX_CHANGES: usize = 5_000;

/// Operation of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Operation {
    /// A new value.
    Add,
    /// A removed value.
    Remove,
    /// A changed value.
    Replace,
}

/// One operation of an RFC 6902 patch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Change {
    /// Operation.
    pub(crate) op: Operation,
    /// RFC 6901 JSON pointer to the value.
    pub(crate) path: String,
    /// The new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Json>,
    /// The old value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old_value: Option<Json>,
}

/// The changes from `from` to `to`, and whether the list is truncated.
pub(crate) fn diff(from: &Json, to: &Json) -> (Vec<Change>, bool) {
    let mut changes = Vec::new();
    compare(from, to, &mut String::new(), &mut changes);
    let more = changes.len() > MAX_CHANGES;
    changes.truncate(MAX_CHANGES);
    (changes, more)
}

fn compare(from: &Json, to: &Json, path: &mut String, changes: &mut Vec<Change>) {
    if from == to || changes.len() > MAX_CHANGES {
        return;
    }
    match (from, to) {
        (Json::Object(old), Json::Object(new)) => {
            for (name, value) in old {
                at(path, name, |path| match new.get(name) {
                    Some(other) => compare(value, other, path, changes),
                    None => push(changes, Operation::Remove, path, None, Some(value)),
                });
            }
            for (name, value) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
                at(path, name, |path| {
                    push(changes, Operation::Add, path, Some(value), None);
                });
            }
        }
        (Json::Array(old), Json::Array(new)) => compare_arrays(old, new, path, changes),
        _ => push(changes, Operation::Replace, path, Some(to), Some(from)),
    }
}

/// Keeps the common prefix and suffix, and compares the elements between them pairwise.
fn compare_arrays(old: &[Json], new: &[Json], path: &mut String, changes: &mut Vec<Change>) {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let both = old.len().min(new.len());
    for index in 0..both {
        at(path, &(start + index).to_string(), |path| {
            compare(&old[index], &new[index], path, changes);
        });
    }
    // In reverse order, so that removals do not shift the remaining indices.
    for index in (both..old.len()).rev() {
        at(path, &(start + index).to_string(), |path| {
            push(changes, Operation::Remove, path, None, Some(&old[index]));
        });
    }
    for (index, value) in new.iter().enumerate().skip(both) {
        at(path, &(start + index).to_string(), |path| {
            push(changes, Operation::Add, path, Some(value), None);
        });
    }
}

fn at(path: &mut String, segment: &str, work: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(&segment.replace('~', "~0").replace('/', "~1"));
    work(path);
    path.truncate(length);
}

fn push(
    changes: &mut Vec<Change>,
    op: Operation,
    path: &str,
    value: Option<&Json>,
    old_value: Option<&Json>,
) {
    changes.push(Change {
        op,
        path: path.to_owned(),
        value: value.cloned(),
        old_value: old_value.cloned(),
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Applies an operation as RFC 6902 specifies.
    fn apply(document: &mut Json, change: &Change) {
        let Some((parent, last)) = change.path.rsplit_once('/') else {
            *document = change.value.clone().unwrap();
            return;
        };
        let last = last.replace("~1", "/").replace("~0", "~");
        match document.pointer_mut(parent).unwrap() {
            Json::Object(object) => match change.op {
                Operation::Remove => drop(object.shift_remove(&last)),
                _ => drop(object.insert(last, change.value.clone().unwrap())),
            },
            Json::Array(array) => {
                let index: usize = last.parse().unwrap();
                match change.op {
                    Operation::Add => array.insert(index, change.value.clone().unwrap()),
                    Operation::Remove => drop(array.remove(index)),
                    Operation::Replace => array[index] = change.value.clone().unwrap(),
                }
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn applying_the_changes_makes_the_new_value() {
        let cases = [
            (
                json!({"a": 1, "b/c": [1, 2, 3]}),
                json!({"b/c": [0, 1, 2, 3], "d~": null}),
            ),
            (json!([1, 2, 3, 4, 5]), json!([1, 5])),
            (json!([1, 5]), json!([1, 2, 3, 5])),
            (
                json!({"body": [{"t": "x"}, {"t": "y"}]}),
                json!({"body": [{"t": "y"}]}),
            ),
            (json!([[1], [2]]), json!([[1, 1], [3], [2]])),
            (json!(1), json!("one")),
        ];
        for (from, to) in cases {
            let mut patched = from.clone();
            for change in diff(&from, &to).0 {
                apply(&mut patched, &change);
            }
            assert_eq!(patched, to);
        }
    }

    #[test]
    fn an_inserted_node_is_one_change() {
        let from = json!({"body": [{"t": 1}, {"t": 2}, {"t": 3}]});
        let to = json!({"body": [{"t": 1}, {"t": 9}, {"t": 2}, {"t": 3}]});
        let (changes, _) = diff(&from, &to);
        assert_eq!(changes.len(), 1);
        assert_eq!(
            (changes[0].op, changes[0].path.as_str()),
            (Operation::Add, "/body/1")
        );
    }
}
