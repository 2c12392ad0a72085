//! The table of UNO types: interfaces with their functions, structs, exceptions, enums.
//!
//! It is compiled in as text (`idl/*.txt`) and parsed once, on first use.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::{
    CodecError,
    types::{SIMPLE, Type, TypeClass},
};

/// Direction in which a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// With the request.
    In,
    /// With the reply.
    Out,
    /// With both.
    InOut,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Direction.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
}

/// A function of an interface.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name of the interface that declares it.
    pub interface: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its number in the interface, counting inherited functions; this is what messages carry.
    pub id: u16,
    /// Whether it never has a reply.
    pub oneway: bool,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// Its return type.
    pub returns: Type,
}

impl Function {
    /// Types of the values in a request.
    pub fn inputs(&self) -> impl Iterator<Item = &Type> {
        let travels = |parameter: &&Parameter| parameter.direction != Direction::Out;
        self.parameters.iter().filter(travels).map(|it| &it.ty)
    }

    /// Types of the values in a reply: the return value, then `out` and `inout` parameters.
    pub fn outputs(&self) -> impl Iterator<Item = &Type> {
        let travels = |parameter: &&Parameter| parameter.direction != Direction::In;
        let parameters = self.parameters.iter().filter(travels).map(|it| &it.ty);
        std::iter::once(&self.returns).chain(parameters)
    }
}

struct Interface {
    bases: Vec<&'static str>,
    functions: Vec<Function>,
}

struct Compound {
    class: TypeClass,
    base: Option<&'static str>,
    members: Vec<(&'static str, Type)>,
}

/// All known types.
pub struct Registry {
    interfaces: HashMap<&'static str, Interface>,
    compounds: HashMap<&'static str, Compound>,
    enums: HashSet<&'static str>,
}

/// The type table.
pub fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
        let text = concat!(
            include_str!("idl/interfaces.txt"),
            include_str!("idl/exceptions.txt")
        );
        parse(text)
    });
    &REGISTRY
}

impl Registry {
    /// Finds a function of an interface or its bases by number.
    ///
    /// # Errors
    /// The interface or the function is not in the table.
    pub fn function(&self, interface: &str, id: u16) -> Result<&Function, CodecError> {
        self.find(interface, &|function| function.id == id)
            .ok_or_else(|| CodecError::UnknownFunction {
                interface: interface.to_owned(),
                function: id,
            })
    }

    /// Finds a function of an interface or its bases by name.
    #[must_use]
    pub fn function_named(&self, interface: &str, name: &str) -> Option<&Function> {
        self.find(interface, &|function| function.name == name)
    }

    fn find(&self, name: &str, matches: &dyn Fn(&Function) -> bool) -> Option<&Function> {
        let interface = self.interfaces.get(name)?;
        let own = interface.functions.iter().find(|it| matches(it));
        own.or_else(|| {
            let mut bases = interface.bases.iter();
            bases.find_map(|base| self.find(base, matches))
        })
    }

    /// Whether `interface` is `base` or inherits from it.
    #[must_use]
    pub fn derives(&self, interface: &str, base: &str) -> bool {
        interface == base
            || self
                .interfaces
                .get(interface)
                .is_some_and(|it| it.bases.iter().any(|it| self.derives(it, base)))
    }

    /// Member types of a struct or exception, those of its bases first.
    ///
    /// # Errors
    /// The type is not in the table.
    pub fn members(&self, ty: &Type) -> Result<Vec<&Type>, CodecError> {
        let mut chain = Vec::new();
        let mut next = Some(ty.name());
        while let Some(name) = next {
            let compound = self.compounds.get(name);
            let compound = compound
                .filter(|it| it.class == ty.class())
                .ok_or_else(|| CodecError::UnknownType(name.to_owned()))?;
            chain.push(compound);
            next = compound.base;
        }
        let members = chain.iter().rev().flat_map(|it| &it.members);
        Ok(members.map(|(_, ty)| ty).collect())
    }

    /// Index of a member in [`Registry::members`].
    #[must_use]
    pub fn member_index(&self, ty: &Type, member: &str) -> Option<usize> {
        let mut compound = self.compounds.get(ty.name())?;
        let own = compound.members.iter().position(|(it, _)| *it == member);
        let mut index = own;
        while let Some(base) = compound.base {
            compound = self.compounds.get(base)?;
            let found = compound.members.iter().position(|(it, _)| *it == member);
            index = found.or(index.map(|it| it + compound.members.len()));
        }
        index
    }

    /// The type with a UNO name, such as `[]string` or `com.sun.star.io.XInputStream`.
    ///
    /// # Errors
    /// The name is not in the table.
    pub fn type_named(&self, name: &str) -> Result<Type, CodecError> {
        if name.starts_with("[]") {
            return Ok(Type::named(TypeClass::Sequence, name));
        }
        if let Some((class, _)) = SIMPLE.iter().find(|(_, simple)| *simple == name) {
            return Ok(Type::simple(*class));
        }
        let class = if self.interfaces.contains_key(name) {
            TypeClass::Interface
        } else if let Some(compound) = self.compounds.get(name) {
            compound.class
        } else if self.enums.contains(name) {
            TypeClass::Enum
        } else {
            return Err(CodecError::UnknownType(name.to_owned()));
        };
        Ok(Type::named(class, name))
    }

    /// The element type of a sequence.
    ///
    /// # Errors
    /// The element's type is not in the table.
    pub fn element(&self, sequence: &Type) -> Result<Type, CodecError> {
        match sequence.name().strip_prefix("[]") {
            Some(name) => self.type_named(name),
            None => Err(CodecError::UnknownType(sequence.name().to_owned())),
        }
    }
}

fn parse(text: &'static str) -> Registry {
    let mut registry = Registry {
        interfaces: HashMap::new(),
        compounds: HashMap::new(),
        enums: HashSet::new(),
    };
    // Declare all names first, so that the class of every member and parameter type is known.
    for line in text.lines() {
        declare(&mut registry, line);
    }
    let mut interface = "";
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("interface") => interface = full(words.next().unwrap_or_default()),
            Some("struct" | "exception") => define(&mut registry, line),
            Some(id) if line.starts_with(' ') => {
                let id = id.parse().expect("a function begins with its number");
                let function = function(&registry, interface, id, line);
                let known = registry.interfaces.get_mut(interface);
                known.expect("declared above").functions.push(function);
            }
            _ => {}
        }
    }
    registry
}

fn declare(registry: &mut Registry, line: &'static str) {
    let mut words = line.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let name = full(words.next().unwrap_or_default());
    let base = words.next().filter(|word| *word == ":");
    let base = base.and_then(|_| words.next()).map(full);
    match kind {
        "interface" => {
            let interface = Interface {
                bases: base.into_iter().collect(),
                functions: Vec::new(),
            };
            registry.interfaces.insert(name, interface);
        }
        "enum" => {
            registry.enums.insert(name);
        }
        "struct" | "exception" => {
            let class = match kind {
                "struct" => TypeClass::Struct,
                _ => TypeClass::Exception,
            };
            let members = Vec::new();
            let compound = Compound {
                class,
                base,
                members,
            };
            registry.compounds.insert(name, compound);
        }
        _ => {}
    }
}

/// Parses the members after name and base: `type name, type name`.
fn define(registry: &mut Registry, line: &'static str) {
    let mut rest = line.split_once(' ').map_or("", |(_, rest)| rest);
    let mut word = || {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        word
    };
    let name = full(word());
    if registry.compounds[name].base.is_some() {
        word();
        word();
    }
    let members = rest.split(',').map(str::trim).filter(|it| !it.is_empty());
    let members = members
        .map(|member| {
            let (ty, name) = member.rsplit_once(' ').expect("a type and a name");
            (name, named(registry, ty))
        })
        .collect();
    let known = registry.compounds.get_mut(name);
    known.expect("declared above").members = members;
}

/// Parses a function, such as `3 long readBytes(out []byte, long)`.
fn function(registry: &Registry, interface: &'static str, id: u16, line: &'static str) -> Function {
    let line = line.trim_start().trim_start_matches(char::is_numeric);
    let (head, parameters) = line.split_once('(').expect("a list of parameters");
    let head = head.trim();
    let oneway = head.starts_with("oneway ");
    let head = head.trim_start_matches("oneway ");
    let (returns, name) = head.rsplit_once(' ').expect("a type and a name");
    let parameters = parameters.trim_end().trim_end_matches(')').split(',');
    let parameters = parameters.map(str::trim).filter(|it| !it.is_empty());
    let parameter = |text: &'static str| {
        let (direction, ty) = match text.split_once(' ') {
            Some(("out", ty)) => (Direction::Out, ty),
            Some(("inout", ty)) => (Direction::InOut, ty),
            _ => (Direction::In, text),
        };
        let ty = named(registry, ty);
        Parameter { direction, ty }
    };
    Function {
        interface,
        name,
        id,
        oneway,
        parameters: parameters.map(parameter).collect(),
        returns: named(registry, returns),
    }
}

fn named(registry: &Registry, text: &'static str) -> Type {
    let dimensions = text.len() - text.trim_start_matches("[]").len();
    let element = full(&text[dimensions..]);
    let name = format!("{}{element}", &text[..dimensions]);
    // A test below detects names that are not declared.
    registry
        .type_named(&name)
        .and_then(|ty| registry.type_named(element).map(|_| ty))
        .unwrap_or_else(|error| panic!("the table of types: {error}"))
}

/// Expands `.io.XInputStream` to `com.sun.star.io.XInputStream`. Leaks the string, once per name in
/// the table.
fn full(name: &'static str) -> &'static str {
    match name.strip_prefix('.') {
        Some(rest) => Box::leak(format!("com.sun.star.{rest}").into_boxed_str()),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads() {
        let registry = registry();
        let function = registry
            .function("com.sun.star.frame.XStorable2", 8)
            .unwrap();
        assert_eq!(function.name, "storeToURL");
        assert_eq!(function.inputs().count(), 2);
        let read = registry.function_named("com.sun.star.io.XInputStream", "readBytes");
        assert_eq!(read.unwrap().outputs().count(), 2);
        for interface in registry.interfaces.values() {
            for base in &interface.bases {
                assert!(registry.interfaces.contains_key(base), "{base}");
            }
        }
        for (name, compound) in &registry.compounds {
            let ty = Type::named(compound.class, *name);
            assert!(registry.members(&ty).is_ok(), "{name}");
        }
    }

    #[test]
    fn members_of_the_base_come_first() {
        let ty = Type::named(
            TypeClass::Exception,
            "com.sun.star.lang.IllegalArgumentException",
        );
        let registry = registry();
        assert_eq!(registry.member_index(&ty, "Message"), Some(0));
        assert_eq!(registry.member_index(&ty, "ArgumentPosition"), Some(2));
        assert_eq!(registry.members(&ty).unwrap().len(), 3);
    }
}
