//! Short names for what a script declares, without comments and needless white space.

use std::collections::HashSet;

use oxc::{
    allocator::Allocator,
    codegen::{Codegen, CodegenOptions},
    parser::Parser,
    semantic::{Scoping, Semantic, SemanticBuilder, SymbolId},
    span::SourceType,
};

/// Words that are no names; those of two letters and more that names could spell.
const RESERVED: [&str; 8] = ["as", "do", "if", "in", "is", "of", "for", "new"];
const FIRST: &[u8] = b"etnraoisclufdphmgvbywkxjzETNRAOISCLUFDPHMGVBYWKXJZqQ$_";
const FURTHER: &[u8] = b"etnraoisclufdphmgvbywkxjzETNRAOISCLUFDPHMGVBYWKXJZqQ$_0123456789";

/// `script`, a module, in short. What it exports keeps its name only in `export { a as b }`.
///
/// # Errors
/// It is no module.
pub fn shortened(script: &str) -> Result<String, String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, script, SourceType::mjs()).parse();
    let checked = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .build(&parsed.program);
    if let Some(error) = parsed.errors.first().or(checked.errors.first()) {
        return Err(error.to_string());
    }
    let slots = slots(&checked.semantic);
    let mut scoping = checked.semantic.into_scoping();
    rename(&mut scoping, slots);
    let written = Codegen::new()
        .with_options(CodegenOptions::minify())
        .with_scoping(Some(scoping))
        .build(&parsed.program);
    Ok(written.code)
}

/// Symbols that may have the same name.
struct Slot {
    symbols: Vec<SymbolId>,
    /// Where one of them is alive, by the number of the scope.
    scopes: Vec<bool>,
    uses: usize,
}

/// Symbols by the names that they may share: no two of them are alive in one scope.
fn slots(semantic: &Semantic<'_>) -> Vec<Slot> {
    let scoping = semantic.scoping();
    let mut slots: Vec<Slot> = Vec::new();
    for symbol in scoping.symbol_ids() {
        let own = scoping.symbol_scope_id(symbol);
        let declared = scoping.symbol_declarations(symbol);
        let used = scoping.get_resolved_references(symbol);
        let used: Vec<_> = used.map(oxc::semantic::Reference::scope_id).collect();
        let uses = used.len() + 1;
        let declared = declared.map(|node| semantic.nodes().get_node(node).scope_id());
        let mut alive = HashSet::from([own]);
        for scope in used.into_iter().chain(declared) {
            for outer in scoping.scope_ancestors(scope) {
                if outer == own || !alive.insert(outer) {
                    break;
                }
            }
        }
        let is_free = |slot: &Slot| !alive.iter().any(|scope| slot.scopes[scope.index()]);
        let index = match slots.iter().position(is_free) {
            Some(index) => index,
            None => {
                slots.push(Slot {
                    symbols: Vec::new(),
                    scopes: vec![false; scoping.scopes_len()],
                    uses: 0,
                });
                slots.len() - 1
            }
        };
        let slot = &mut slots[index];
        slot.symbols.push(symbol);
        slot.uses += uses;
        for scope in alive {
            slot.scopes[scope.index()] = true;
        }
    }
    slots.sort_by_key(|slot| std::cmp::Reverse(slot.uses));
    slots
}

/// Gives the most used the shortest names.
fn rename(scoping: &mut Scoping, slots: Vec<Slot>) {
    let globals = scoping.root_unresolved_references().keys();
    let taken: HashSet<String> = globals.map(ToString::to_string).collect();
    let mut names = (0..).map(name).filter(|name| {
        let is_word = RESERVED.contains(&name.as_str());
        !is_word && !taken.contains(name)
    });
    for slot in slots {
        let Some(name) = names.next() else { return };
        for symbol in slot.symbols {
            scoping.set_symbol_name(symbol, name.as_str().into());
        }
    }
}

/// The name of a number: `e`, `t`, and so on.
fn name(number: usize) -> String {
    let mut name = String::from(FIRST[number % FIRST.len()] as char);
    let mut rest = number / FIRST.len();
    while rest > 0 {
        rest -= 1;
        name.push(FURTHER[rest % FURTHER.len()] as char);
        rest /= FURTHER.len();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_never_meet() {
        let script = "/** Says it. */\nconst greeting = (person) => { const text = `Hello ${person}`; const inner = () => text + other + person; return { text, inner }; };\nconst other = 1;\nfor (const each of document.all) { let { text, ...rest } = each; console.log(text, rest, other); }\nexport { greeting as hello };\n";
        let short = shortened(script).unwrap();
        assert!(
            !short.contains("person") && !short.contains('\n'),
            "{short}"
        );
        for kept in ["document.all", "as hello}", "{text:", "console.log"] {
            assert!(short.contains(kept), "{kept}: {short}");
        }
        assert!(shortened("const = 1").is_err());
    }

    #[test]
    fn every_number_has_a_name_of_its_own() {
        let names: HashSet<String> = (0..10_000).map(name).collect();
        assert_eq!(names.len(), 10_000);
        assert!(names.iter().all(|name| name.len() <= 3));
    }
}
