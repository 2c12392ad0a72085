//! Modules as one script: in order, without imports and exports, and with a name of its own for
//! everything that a module declares.

use std::collections::HashMap;

use oxc::{
    allocator::{Allocator, Vec as ArenaVec},
    ast::{
        AstBuilder,
        ast::{
            BindingIdentifier, Declaration, ExportDefaultDeclarationKind,
            ImportDeclarationSpecifier, ModuleExportName, Program, Statement,
        },
    },
    codegen::Codegen,
    parser::Parser,
    semantic::{Scoping, SemanticBuilder, SymbolId},
    span::{SPAN, SourceType},
};

use super::mangle::shortened;

/// Name of what a module exports by default.
const DEFAULT: &str = "default";

/// The module `entry` with all that it imports, as one script. Modules that are imported while it
/// runs stay apart.
///
/// # Errors
/// A module is missing, or is none.
pub fn link(files: &[(&str, &str)], entry: &str) -> Result<String, String> {
    let mut linker = Linker {
        files,
        names: HashMap::new(),
        text: String::new(),
    };
    linker.add(entry)?;
    let exports = linker.names.remove(entry).unwrap_or_default();
    let mut exported: Vec<String> = exports
        .iter()
        .map(|(name, of)| format!("{of} as {name}"))
        .collect();
    exported.sort();
    if !exported.is_empty() {
        linker.text += &format!("export {{ {} }};\n", exported.join(", "));
    }
    shortened(&linker.text)
}

/// Names of what a module exports, in the whole script.
type Exports = HashMap<String, String>;

struct Linker<'f> {
    files: &'f [(&'f str, &'f str)],
    /// Exports of modules that are in the text.
    names: HashMap<String, Exports>,
    text: String,
}

impl Linker<'_> {
    /// Adds a module behind those that it imports.
    fn add(&mut self, name: &str) -> Result<(), String> {
        if self.names.contains_key(name) {
            return Ok(());
        }
        let source = self.files.iter().find(|(of, _)| *of == name);
        let (_, source) = source.ok_or_else(|| format!("{name} is missing"))?;
        let allocator = Allocator::default();
        let mut parsed = Parser::new(&allocator, source, SourceType::mjs()).parse();
        if let Some(error) = parsed.errors.first() {
            return Err(format!("{name}: {error}"));
        }
        let imported = parsed.program.body.iter().filter_map(source_of);
        let imported: Vec<String> = imported.map(str::to_owned).collect();
        for other in &imported {
            self.add(other)?;
        }
        let checked = SemanticBuilder::new().build(&parsed.program);
        let mut scoping = checked.semantic.into_scoping();
        let number = self.names.len();
        self.rename(&mut scoping, &parsed.program, number)?;
        let exports = self.exports(&scoping, &parsed.program, number)?;
        self.names.insert(name.to_owned(), exports);
        without_modules(&allocator, &mut parsed.program, number);
        let written = Codegen::new().with_scoping(Some(scoping));
        self.text += &written.build(&parsed.program).code;
        self.text.push('\n');
        Ok(())
    }

    /// Gives what the module declares and imports the names that they have in the script.
    fn rename(
        &self,
        scoping: &mut Scoping,
        program: &Program<'_>,
        number: usize,
    ) -> Result<(), String> {
        let root: Vec<SymbolId> = scoping.iter_bindings_in(scoping.root_scope_id()).collect();
        for symbol in root {
            let name = format!("{}${number}", scoping.symbol_name(symbol));
            scoping.set_symbol_name(symbol, name.as_str().into());
        }
        for statement in &program.body {
            let Statement::ImportDeclaration(import) = statement else {
                continue;
            };
            for one in import.specifiers.iter().flatten() {
                let (wanted, local) = match one {
                    ImportDeclarationSpecifier::ImportSpecifier(one) => {
                        (one.imported.name().to_string(), &one.local)
                    }
                    ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
                        (DEFAULT.to_owned(), &one.local)
                    }
                    ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => {
                        return Err("a module is imported as a whole".to_owned());
                    }
                };
                let name = self.name(file_of(&import.source.value), &wanted)?;
                if let Some(symbol) = local.symbol_id.get() {
                    scoping.set_symbol_name(symbol, name.into());
                }
            }
        }
        Ok(())
    }

    /// The name in the script of what a module exports.
    fn name(&self, module: &str, export: &str) -> Result<&str, String> {
        let found = self.names.get(module).and_then(|of| of.get(export));
        let found = found.map(String::as_str);
        found.ok_or_else(|| format!("{module} exports no {export}"))
    }

    fn exports(
        &self,
        scoping: &Scoping,
        program: &Program<'_>,
        number: usize,
    ) -> Result<Exports, String> {
        let mut exports = Exports::new();
        for statement in &program.body {
            match statement {
                Statement::ExportDefaultDeclaration(_) => {
                    exports.insert(DEFAULT.to_owned(), format!("{DEFAULT}${number}"));
                }
                Statement::ExportNamedDeclaration(export) => {
                    let declared = export.declaration.as_ref().map(names_of);
                    for one in declared.into_iter().flatten() {
                        let symbol = one.symbol_id.get().map(|of| scoping.symbol_name(of));
                        exports.extend(symbol.map(|of| (one.name.to_string(), of.to_owned())));
                    }
                    for one in &export.specifiers {
                        let local = one.local.name().to_string();
                        let name = match (&export.source, &one.local) {
                            (Some(source), _) => {
                                self.name(file_of(&source.value), &local)?.to_owned()
                            }
                            (None, ModuleExportName::IdentifierReference(of)) => {
                                let reference = scoping.get_reference(of.reference_id());
                                let symbol = reference.symbol_id();
                                let symbol = symbol.ok_or_else(|| format!("no {local}"))?;
                                scoping.symbol_name(symbol).to_owned()
                            }
                            (None, _) => return Err(format!("{local} is exported as a text")),
                        };
                        exports.insert(one.exported.name().to_string(), name);
                    }
                }
                _ => {}
            }
        }
        Ok(exports)
    }
}

/// The names that an exported declaration declares.
fn names_of<'d, 'a>(declaration: &'d Declaration<'a>) -> Vec<&'d BindingIdentifier<'a>> {
    match declaration {
        Declaration::FunctionDeclaration(function) => function.id.iter().collect(),
        Declaration::ClassDeclaration(class) => class.id.iter().collect(),
        Declaration::VariableDeclaration(variables) => {
            let all = variables.declarations.iter();
            all.flat_map(|one| one.id.get_binding_identifiers())
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The name of a file of a specifier such as `./main.js`.
fn file_of(specifier: &str) -> &str {
    specifier.trim_start_matches("./")
}

/// The file that a statement imports from.
fn source_of<'s>(statement: &'s Statement<'_>) -> Option<&'s str> {
    let source = match statement {
        Statement::ImportDeclaration(import) => Some(&import.source),
        Statement::ExportNamedDeclaration(export) => export.source.as_ref(),
        _ => None,
    };
    source.map(|source| file_of(source.value.as_str()))
}

/// Leaves what the module declares and does.
fn without_modules<'a>(allocator: &'a Allocator, program: &mut Program<'a>, number: usize) {
    let build = AstBuilder::new(allocator);
    let body = std::mem::replace(&mut program.body, ArenaVec::new_in(allocator));
    for statement in body {
        let kept = match statement {
            Statement::ImportDeclaration(_) => None,
            Statement::ExportNamedDeclaration(mut export) => {
                export.declaration.take().map(Statement::from)
            }
            Statement::ExportDefaultDeclaration(export) => match export.unbox().declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(mut function) => {
                    let name = allocator.alloc_str(&format!("{DEFAULT}${number}"));
                    function.id = Some(build.binding_identifier(SPAN, name));
                    Some(Statement::FunctionDeclaration(function))
                }
                _ => None,
            },
            other => Some(other),
        };
        program.body.extend(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_become_one_script_in_which_names_do_not_meet() {
        let files = [
            (
                "main.js",
                "import { value as mine, list } from \"./a.js\";\nimport make from \"./b.js\";\nconst value = 2;\nfunction parent(value) { return [mine, value, window.parent, list]; }\ndocument.title = make(parent(value));\nconst late = () => import(\"./late.js\");\nlate();\n",
            ),
            (
                "a.js",
                "import { list } from \"./c.js\";\nexport const value = 1;\nexport { list };\n",
            ),
            (
                "b.js",
                "export { list as all } from \"./c.js\";\nlet value = 3;\nexport default function (one) { value += 1; return { value, one }; }\n",
            ),
            ("c.js", "// A list.\nexport const list = [1, 2, 3];\n"),
        ];
        let script = link(&files, "main.js").unwrap();
        assert!(
            !script.contains("export") && !script.contains("from"),
            "{script}"
        );
        assert!(script.contains("import(`./late.js`)"), "{script}");
        assert!(script.contains("window.parent"), "{script}");
        let missing = link(
            &[("main.js", "import { a } from \"./x.js\"; a();")],
            "main.js",
        );
        assert_eq!(missing.unwrap_err(), "x.js is missing");
        let kept = link(&[("a.js", "export const german = {a: 1};")], "a.js").unwrap();
        assert!(kept.contains("as german}"), "{kept}");
    }
}
