// The description of the service, openapi.json, as the page asks for it.

/** The root of the service: the page is at `docs` below it. */
export const root = new URL('.', document.baseURI);

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** The description, read. */
export class Description {
  constructor(document) {
    this.document = document;
    this.info = document.info ?? {};
    this.operations = this.#operations();
    this.byName = new Map(this.operations.map(operation => [operation.name, operation]));
    this.schemas = new Map(Object.entries(document.components?.schemas ?? {}));
    this.groups = this.#groups();
  }

  static async read() {
    const answer = await fetch(new URL('openapi.json', root));
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    return new Description(await answer.json());
  }

  /** What a reference leads to, or the value itself. References to references are followed, circles are not. */
  resolve(value) {
    for (let steps = 0; value?.$ref && steps < 20; steps += 1) {
      const pieces = value.$ref.replace(/^#\//, '').split('/');
      const { $ref, ...beside } = value;
      const found = pieces.reduce((place, piece) =>
        place?.[decodeURIComponent(piece).replace(/~1/g, '/').replace(/~0/g, '~')], this.document);
      if (found === undefined) return beside;
      value = Object.keys(beside).length && typeof found === 'object' ? { ...found, ...beside } : found;
    }
    return value;
  }

  #operations() {
    const all = [];
    for (const [path, methods] of Object.entries(this.document.paths ?? {})) {
      for (const method of METHODS) {
        const about = methods[method];
        if (about) all.push(this.#operation(path, method, about, methods.parameters ?? []));
      }
    }
    return all;
  }

  #operation(path, method, about, shared) {
    const body = this.resolve(about.requestBody);
    const parameters = [...shared, ...about.parameters ?? []].map(one => this.resolve(one));
    return {
      path,
      method,
      name: about.operationId ?? `${method} ${path}`,
      summary: about.summary ?? '',
      description: about.description ?? '',
      tag: about.tags?.[0] ?? 'other',
      parameters,
      body: body && {
        required: body.required === true,
        description: body.description ?? '',
        contents: Object.entries(body.content ?? {}).map(([type, content]) => ({ type, ...content })),
      },
      answers: Object.entries(about.responses ?? {}).map(([status, answer]) => ({ status, ...this.resolve(answer) })),
      isOpen: (about.security ?? this.document.security ?? []).length === 0,
      words: [path, method, about.operationId, about.summary, about.tags, parameters.map(one => one.name)]
        .flat().join(' ').toLowerCase(),
    };
  }

  #groups() {
    const known = new Map((this.document.tags ?? []).map(tag => [tag.name, { ...tag, operations: [] }]));
    for (const operation of this.operations) {
      if (!known.has(operation.tag)) known.set(operation.tag, { name: operation.tag, operations: [] });
      known.get(operation.tag).operations.push(operation);
    }
    return [...known.values()].filter(group => group.operations.length);
  }

  /** Examples of a body or a parameter: the one, or the named ones. */
  examples(holder) {
    const named = Object.entries(holder.examples ?? {}).map(([name, one]) => {
      const example = this.resolve(one);
      return { name, summary: example.summary ?? name, value: example.value };
    });
    if (holder.example !== undefined) named.unshift({ name: 'example', summary: 'Example', value: holder.example });
    return named;
  }
}
