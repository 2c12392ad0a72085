// Runs in a cell before any tenant's code and creates `ctx`. `send` sends a text to the owner.
(send) => {
  "use strict";
  const { stringify, parse } = JSON;
  const { freeze, defineProperty, assign } = Object;
  const Settled = Promise;
  const pending = new Map();
  // The owner answers this many calls at a time; others wait here.
  const MOST = 16;
  const queue = [];
  let head = 0;
  let open = 0;
  let last = 0;

  const pass = () => {
    while (open < MOST && head < queue.length) {
      open += 1;
      send(queue[head]);
      queue[head] = undefined;
      head += 1;
    }
  };
  const call = (kind, body) =>
    new Settled((resolve, reject) => {
      const id = ++last;
      pending.set(id, [resolve, reject]);
      queue[queue.length] = stringify({ call: { id, kind, body } });
      pass();
    });

  const text = (part) => {
    if (typeof part === "string") return part;
    if (part instanceof Error) return `${part.name}: ${part.message}`;
    return stringify(part) ?? String(part);
  };
  const log = (level) => (...parts) => {
    send(stringify({ log: { level, text: parts.map(text).join(" ").slice(0, 8192) } }));
  };
  const logs = {
    debug: log("debug"),
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
  };

  const fetch = async (url, init = {}) => {
    const { method, headers, body } = init;
    const answer = await call("fetch", { url: String(url), method, headers, body });
    return {
      ok: answer.status >= 200 && answer.status < 300,
      status: answer.status,
      headers: new Map(Object.entries(answer.headers ?? {})),
      text: async () => answer.body,
      json: async () => parse(answer.body),
    };
  };

  // sfc32: small, fast, and of good quality. The owner sends the seed, because all forks share
  // the same state.
  const random = (a, b, c, d) => () => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return (t >>> 0) / 4294967296;
  };

  const standStill = (now) => {
    const Moving = Date;
    class Still extends Moving {
      constructor(...parts) {
        if (parts.length === 0) super(now);
        else super(...parts);
      }
      static now() {
        return now;
      }
    }
    defineProperty(Still, "name", { value: "Date" });
    globalThis.Date = Still;
    globalThis.performance = freeze({ now: () => 0, timeOrigin: now });
  };

  return {
    start(seed, fixedNow, run, secrets) {
      const next = random(...parse(seed));
      for (let turn = 0; turn < 12; turn += 1) next();
      defineProperty(Math, "random", { value: next, writable: true, configurable: true });
      if (typeof fixedNow === "number") standStill(fixedNow);
      globalThis.console = freeze({ ...logs, log: logs.info });
      return freeze({
        log: freeze(assign((...parts) => logs.info(...parts), logs)),
        fetch,
        render: (request) => call("render", request),
        store: freeze({
          get: (key, options) => call("store.get", { key, scope: options?.scope }),
          put: (key, value, options) =>
            call("store.put", { key, value, scope: options?.scope }),
          delete: (key, options) => call("store.delete", { key, scope: options?.scope }),
        }),
        secrets: freeze(parse(secrets)),
        run: freeze(parse(run)),
      });
    },
    deliver(message) {
      const { id, ok, error } = parse(message);
      const waiting = pending.get(id);
      if (waiting === undefined) return;
      pending.delete(id);
      open -= 1;
      pass();
      if (error === undefined) waiting[0](ok);
      else waiting[1](new Error(error));
    },
    waiting: () => pending.size,
  };
}
