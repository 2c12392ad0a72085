//! Limits circular dependencies between the files of a crate, so that a reader of one file does not
//! need to read all of them. A few files that belong together may depend on each other; more than
//! [`MOST`] may not.

mod workspace;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use workspace::{files_below, root};

/// Maximum number of files in a circle: an object and its parts.
const MOST: usize = 3;
/// Circles that are larger and known, by one of their files and their size: each is to be untied, and
/// none may grow. What a table does at page ends and how columns are balanced is decided while
/// fragments are placed; references reach the values of the evaluator through the state of all functions.
const KNOWN: [(&str, usize); 2] = [("compose/flow.rs", 8), ("expression/reference.rs", 5)];

/// A file of a crate: its module, and the paths that it uses.
struct File {
    name: String,
    module: Vec<String>,
    /// Paths within the crate, from its root.
    named: BTreeSet<Vec<String>>,
    /// Re-exports: the last segment of a path, or its alias, and the path.
    given_on: BTreeMap<String, Vec<String>>,
}

/// The code without comments and tests.
fn code_of(text: &str) -> String {
    let lines = text
        .lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"));
    let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
    let text: Vec<&str> = lines.collect();
    text.join("\n")
}

/// The module of a file: both `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module_of(relative: &Path) -> Vec<String> {
    let mut words: Vec<String> = relative
        .with_extension("")
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if words
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        words.pop();
    }
    words
}

/// Expands a use tree such as `crate::a::{b, c::{d as e, self}}` to paths, each with its name.
fn paths_of(tree: &str) -> Vec<(String, Vec<String>)> {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let head: Vec<String> = words_of(&tree[..open]);
        let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
        let branches = split_outside(inner);
        return branches
            .into_iter()
            .flat_map(paths_of)
            .map(|(name, rest)| {
                let is_self = rest.len() == 1 && rest[0] == "self";
                let rest = if is_self { Vec::new() } else { rest };
                (name, [head.clone(), rest].concat())
            })
            .collect();
    }
    let (path, name) = match tree.split_once(" as ") {
        Some((path, name)) => (path, Some(name.trim().to_owned())),
        None => (tree, None),
    };
    let words = words_of(path);
    let Some(last) = words.last().cloned() else {
        return Vec::new();
    };
    vec![(name.unwrap_or(last), words)]
}

fn words_of(path: &str) -> Vec<String> {
    let words = path.split("::").map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Splits at the commas outside of brackets.
fn split_outside(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Resolves a path to one from the root of the crate; `None` if it begins in another crate.
fn absolute(
    words: &[String],
    module: &[String],
    modules: &BTreeSet<Vec<String>>,
) -> Option<Vec<String>> {
    let first = words.first()?.as_str();
    match first {
        "crate" => Some(words[1..].to_vec()),
        "self" => Some([module, &words[1..]].concat()),
        "super" => {
            let ups = words.iter().take_while(|word| *word == "super").count();
            let above = module.get(..module.len().checked_sub(ups)?)?;
            Some([above, &words[ups..]].concat())
        }
        _ => {
            let below = [module, &words[..1]].concat();
            modules.contains(&below).then(|| [module, words].concat())
        }
    }
}

fn read(krate: &Path) -> Vec<File> {
    let src = krate.join("src");
    let texts: Vec<(String, Vec<String>, String)> = files_below(&src)
        .into_iter()
        .map(|path| {
            let relative = path.strip_prefix(&src).unwrap();
            let code = code_of(&std::fs::read_to_string(&path).unwrap());
            (relative.display().to_string(), module_of(relative), code)
        })
        .collect();
    let modules: BTreeSet<Vec<String>> =
        texts.iter().map(|(_, module, _)| module.clone()).collect();
    let files = texts.into_iter().map(|(name, module, code)| {
        let (mut named, mut given_on) = (BTreeSet::new(), BTreeMap::new());
        for (is_public, tree) in uses(&code) {
            for (name, path) in paths_of(&tree) {
                let Some(path) = absolute(&path, &module, &modules) else {
                    continue;
                };
                if is_public {
                    given_on.insert(name, path);
                } else {
                    named.insert(path);
                }
            }
        }
        for path in inline(&code) {
            named.extend(absolute(&path, &module, &modules));
        }
        File {
            name,
            module,
            named,
            given_on,
        }
    });
    files.collect()
}

/// The use trees of the code, and whether each is a re-export.
fn uses(code: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in code.lines() {
        if let Some((_, text)) = &mut open {
            text.push(' ');
            text.push_str(line.trim());
        } else {
            let line = line.trim_start();
            let Some(at) = line.find("use ") else {
                continue;
            };
            let before = line[..at].trim();
            if !(before.is_empty() || before.starts_with("pub")) {
                continue;
            }
            open = Some((!before.is_empty(), line[at + 4..].to_owned()));
        }
        if let Some((is_public, text)) = open.take_if(|(_, text)| text.ends_with(';')) {
            found.push((is_public, text.trim_end_matches(';').to_owned()));
        }
    }
    found
}

/// Paths in the code that begin with `crate` or `super`. The head of a use tree is not one of them:
/// `use super::{a::A, b::B}` names `a` and `b`, which [`uses`] finds, and nothing of the module above.
fn inline(code: &str) -> Vec<Vec<String>> {
    let is_of_path = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
    code.split_inclusive(|letter| !is_of_path(letter))
        .filter(|word| !word.ends_with("::{"))
        .map(|word| word.trim_end_matches(|letter| !is_of_path(letter)))
        .filter(|word| word.starts_with("crate::") || word.starts_with("super::"))
        .map(words_of)
        .collect()
}

/// The file that a path leads to, following re-exports.
fn target(files: &[File], path: &[String]) -> Option<usize> {
    let mut path = path.to_vec();
    for _ in 0..8 {
        let depth = (0..=path.len())
            .rev()
            .find(|depth| files.iter().any(|file| file.module == path[..*depth]))?;
        let at = files.iter().position(|file| file.module == path[..depth])?;
        match path
            .get(depth)
            .and_then(|item| files[at].given_on.get(item))
        {
            Some(next) if *next != path => {
                path = [&next[..], &path[depth + 1..]].concat();
            }
            _ => return Some(at),
        }
    }
    None
}

/// The strongly connected components of a graph, largest first. A search for each pair of files is
/// fast enough for a crate.
fn circles(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..edges.len())
        .map(|start| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
            while let Some(at) = next.pop() {
                next.extend(edges[at].iter().filter(|to| seen.insert(**to)));
            }
            seen
        })
        .collect();
    let mut done = BTreeSet::new();
    let mut all = Vec::new();
    for at in 0..edges.len() {
        if done.contains(&at) || !reach[at].contains(&at) {
            continue;
        }
        let circle: Vec<usize> = (0..edges.len())
            .filter(|other| reach[at].contains(other) && reach[*other].contains(&at))
            .collect();
        done.extend(circle.iter().copied());
        all.push(circle);
    }
    all.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    all
}

#[test]
fn no_circle_of_files_is_larger_than_an_object_with_its_parts() {
    let mut findings = Vec::new();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let files = read(&folder);
        let edges: Vec<BTreeSet<usize>> = files
            .iter()
            .enumerate()
            .map(|(at, file)| {
                let targets = file.named.iter().filter_map(|path| target(&files, path));
                targets.filter(|to| *to != at).collect()
            })
            .collect();
        let circles = circles(&edges).into_iter();
        let is_known = |circle: &Vec<usize>| {
            KNOWN.iter().any(|(name, most)| {
                circle.len() <= *most && circle.iter().any(|at| files[*at].name == *name)
            })
        };
        let large = circles.filter(|circle| circle.len() > MOST && !is_known(circle));
        findings.extend(large.map(|circle| {
            let names: Vec<&str> = circle.iter().map(|at| files[*at].name.as_str()).collect();
            format!("crates/{name}: {}: {}", names.len(), names.join(" "))
        }));
    }
    assert!(
        findings.is_empty(),
        "files depend on each other in circles:\n{}",
        findings.join("\n")
    );
}
