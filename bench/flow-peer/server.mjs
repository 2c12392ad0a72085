// The four-node flow (webhook -> 2 + 3 -> Number(sum) + 1 -> respond) as a sandboxing server of Node
// would do it: a forked process for each run ("cold"), or forks that are used again with a fresh
// isolate for each run ("warm"). Nothing is stored. Usage: node server.mjs PORT cold|warm [FORKS]
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const [port = '0', mode = 'warm', forks = '2'] = process.argv.slice(2);
const MAX_WAITING = 1024;
const TIMEOUT_MS = 30_000;
const child = fileURLToPath(new URL('./child.mjs', import.meta.url));
const limit = Number(forks);
const idle = [];
const waiting = [];
let alive = 0;

const start = () => {
  alive += 1;
  const process = fork(child, { execArgv: ['--no-node-snapshot'], serialization: 'json' });
  process.once('exit', () => {
    alive -= 1;
    const place = idle.indexOf(process);
    if (place >= 0) idle.splice(place, 1);
    next();
  });
  return process;
};

const next = () => {
  while (waiting.length > 0) {
    const process = idle.pop() ?? (alive < limit ? start() : undefined);
    if (process === undefined) return;
    waiting.shift()(process);
  }
};

const take = () =>
  new Promise((resolve, reject) => {
    if (waiting.length >= MAX_WAITING) return reject(new Error('too many runs wait'));
    waiting.push(resolve);
    next();
  });

const ask = (process, job) =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => process.kill('SIGKILL'), TIMEOUT_MS);
    const ended = () => done(reject)(new Error('the sandbox ended'));
    const done = (settle) => (value) => {
      clearTimeout(late);
      process.off('exit', ended);
      settle(value);
    };
    process.once('exit', ended);
    process.once('message', ({ ok, error }) =>
      error === undefined ? done(resolve)(ok) : done(reject)(new Error(error)),
    );
    process.send(job);
  });

const code = 'export default (input) => ({ result: Number(input.sum) + 1 });';

const run = async () => {
  const sum = 2 + 3;
  const process = await take();
  try {
    return await ask(process, { code, input: { sum } });
  } finally {
    if (mode === 'cold') process.kill('SIGKILL');
    else idle.push(process);
    next();
  }
};

const server = createServer((request, response) => {
  request.resume();
  request.once('end', async () => {
    const answer = (status, body) => {
      const text = JSON.stringify(body);
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      });
      response.end(text);
    };
    try {
      answer(200, await run());
    } catch (error) {
      answer(500, { error: error.message });
    }
  });
});
server.listen(Number(port), '127.0.0.1', () => {
  console.log(`listening on 127.0.0.1:${server.address().port} (${mode}, ${limit} forks)`);
});
