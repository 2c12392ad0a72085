// What an expression of code is, as far as its text says: variables, members, calls and `await`.

/** @import { EditorState, SyntaxNode } from "./vendor-codemirror.js" */
/** @import { Shape } from "./code-types.js" */

import { STRING, UNKNOWN, globals, listOf, shapeOf } from "./code-types.js";

/** Methods whose functions get an element of the list. */
const WITH_ELEMENT = new Set(["map", "filter", "find", "findIndex", "findLast", "some", "every", "forEach", "flatMap", "sort", "toSorted"]);
/** Most steps from a name to what it is. */
const DEPTH = 24;

/** @param {SyntaxNode} node */
function children(node) {
  const found = [];
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(child);
  return found;
}

/** The code of a step, with what its function is called with. */
export class CodeScope {
  /**
   * @param {EditorState} state
   * @param {Shape[]} given the shapes of `input` and `ctx`
   */
  constructor(state, given) {
    this.state = state;
    this.given = given;
    this.left = DEPTH;
  }

  /** @param {SyntaxNode} node */
  text(node) {
    return this.state.sliceDoc(node.from, node.to);
  }

  /**
   * What an expression is.
   * @param {SyntaxNode | null | undefined} node
   * @returns {Shape}
   */
  shape(node) {
    if (!node || this.left <= 0) return UNKNOWN;
    this.left -= 1;
    const found = this.read(node) ?? UNKNOWN;
    this.left += 1;
    return found;
  }

  /**
   * @param {SyntaxNode} node
   * @returns {Shape | undefined}
   */
  read(node) {
    const inner = children(node);
    switch (node.name) {
      case "VariableName": return this.variable(this.text(node), node);
      case "ParenthesizedExpression": return this.shape(inner[1]);
      case "AwaitExpression": { const of = this.shape(inner[1]); return of.awaited ?? of; }
      case "CallExpression": return this.shape(inner[0]).result;
      case "String": case "TemplateString": return STRING;
      case "Number": return shapeOf(0);
      case "BooleanLiteral": return shapeOf(true);
      case "ArrayExpression": return listOf(this.shape(inner[1]?.name === "]" ? null : inner[1]));
      case "ObjectExpression": return { type: "object", members: () => this.members(inner) };
      case "MemberExpression": {
        const of = this.shape(inner[0]);
        if (inner[1]?.name === "[") return of.item;
        return of.members?.()[this.text(inner[inner.length - 1])];
      }
      default: return undefined;
    }
  }

  /**
   * Members of an object that the code writes.
   * @param {SyntaxNode[]} properties
   */
  members(properties) {
    /** @type {{[name: string]: Shape}} */
    const found = {};
    for (const property of properties.filter((one) => one.name === "Property")) {
      const [name, , value] = children(property);
      if (name.name === "Spread") Object.assign(found, this.shape(name.nextSibling).members?.());
      else found[this.text(name)] = value ? this.shape(value) : this.variable(this.text(name), property);
    }
    return found;
  }

  /**
   * What a variable is at a place: the nearest declaration around it.
   * @param {string} name
   * @param {SyntaxNode} at
   * @returns {Shape}
   */
  variable(name, at) {
    for (let node = at; node.parent; node = node.parent) {
      for (let before = node.prevSibling; before; before = before.prevSibling) {
        const found = before.name === "VariableDeclaration" ? this.declared(before, name)
          : before.name === "ParamList" ? this.parameter(before, name)
            : before.name === "ForOfSpec" ? this.bound(children(before)[2], name, () => this.shape(children(before)[4]).item) : undefined;
        if (found) return found;
      }
    }
    return globals()[name] ?? UNKNOWN;
  }

  /**
   * @param {SyntaxNode} declaration
   * @param {string} name
   */
  declared(declaration, name) {
    const parts = children(declaration);
    for (const [index, part] of parts.entries()) {
      if (part.name !== "Equals") continue;
      const pattern = parts.slice(0, index).findLast((one) => ["VariableDefinition", "ObjectPattern", "ArrayPattern"].includes(one.name));
      const found = this.bound(pattern, name, () => this.shape(parts[index + 1]));
      if (found) return found;
    }
    return undefined;
  }

  /**
   * @param {SyntaxNode} list
   * @param {string} name
   */
  parameter(list, name) {
    const all = children(list).filter((one) => ["VariableDefinition", "ObjectPattern", "ArrayPattern"].includes(one.name));
    for (const [index, one] of all.entries()) {
      const found = this.bound(one, name, () => this.argument(list, index));
      if (found) return found;
    }
    return undefined;
  }

  /**
   * What a function is called with: the step's, by the flow; one in a call such as `map`, by the list.
   * @param {SyntaxNode} list
   * @param {number} index
   */
  argument(list, index) {
    const outer = list.parent?.parent;
    if (outer?.name === "ExportDeclaration") return this.given[index];
    const callee = outer?.name === "ArgList" ? outer.prevSibling : null;
    if (callee?.name !== "MemberExpression") return undefined;
    const parts = children(callee);
    const method = this.text(parts[parts.length - 1]);
    if (!WITH_ELEMENT.has(method)) return undefined;
    return index === 0 || method.endsWith("ort") || method.endsWith("orted") ? this.shape(parts[0]).item : shapeOf(0);
  }

  /**
   * The shape of a name that a pattern binds.
   * @param {SyntaxNode | undefined} pattern
   * @param {string} name
   * @param {() => Shape | undefined} whole
   * @returns {Shape | undefined}
   */
  bound(pattern, name, whole) {
    if (!pattern) return undefined;
    if (pattern.name === "VariableDefinition") return this.text(pattern) === name ? whole() ?? UNKNOWN : undefined;
    for (const property of children(pattern)) {
      if (pattern.name === "ArrayPattern") {
        const found = this.bound(["VariableDefinition", "ObjectPattern"].includes(property.name) ? property : undefined, name, () => whole()?.item);
        if (found) return found;
      } else if (property.name === "PatternProperty") {
        const parts = children(property);
        const found = this.bound(parts[2] ?? parts[0], name, () => whole()?.members?.()[this.text(parts[0])]);
        if (found) return found;
      }
    }
    return undefined;
  }
}
