// A value that a schema allows: what must be there, and no more.

const DEEPEST = 6;

/** A value of `schema`. */
export function sample(description, schema, depth = 0) {
  const it = description.resolve(schema);
  if (it === true || !it || typeof it !== 'object') return {};
  if ('example' in it) return it.example;
  if (Array.isArray(it.examples) && it.examples.length) return it.examples[0];
  if ('const' in it) return it.const;
  if ('default' in it) return it.default;
  if (it.enum) return it.enum[0];
  const choices = it.oneOf ?? it.anyOf;
  if (choices) return sample(description, choices[0], depth + 1);
  if (it.allOf) return Object.assign({}, ...it.allOf.map(one => sample(description, one, depth + 1)));
  const type = Array.isArray(it.type) ? it.type.find(one => one !== 'null') : it.type;
  if (type === 'object' || it.properties) return object(description, it, depth);
  if (type === 'array') return depth < DEEPEST && it.minItems > 0 ? [sample(description, it.items, depth + 1)] : [];
  if (type === 'integer' || type === 'number') return it.minimum ?? 0;
  if (type === 'boolean') return false;
  if (type === 'string') return '';
  return {};
}

function object(description, schema, depth) {
  const value = {};
  if (depth >= DEEPEST) return value;
  for (const name of schema.required ?? []) {
    value[name] = sample(description, schema.properties?.[name], depth + 1);
  }
  return value;
}
