// The same request for a shell.

const LONG = 100;
const quoted = text => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const isPlain = text => /^[\w@%+=:,./-]+$/.test(text);
const word = text => isPlain(text) ? text : quoted(text);

/** The command of `request`; the key is a variable of the shell, so that it is in no history. */
export function curl(operation, request) {
  const lines = ['curl'];
  const { method, body } = request;
  if (method !== (body === null ? 'GET' : 'POST')) lines[0] += ` -X ${method}`;
  lines[0] += ` ${word(request.url.href)}`;
  for (const [name, value] of request.headers) {
    if (name === 'x-api-key') lines.push('-H "X-Api-Key: $PLATEN_API_KEY"');
    else lines.push(`-H ${quoted(`${name.replace(/(^|-)\w/g, letter => letter.toUpperCase())}: ${value}`)}`);
  }
  const name = fileName(operation, request);
  if (name) lines.push(`-o ${word(name)}`);
  let document = '';
  if (body instanceof FormData) {
    for (const [field, value] of body) {
      lines.push(value instanceof File ? `-F ${quoted(`${field}=@${value.name}`)}` : `-F ${quoted(`${field}=${value}`)}`);
    }
  } else if (body instanceof File) {
    lines.push(`--data-binary ${quoted(`@${body.name}`)}`);
  } else if (body !== null && body.length <= LONG && !body.includes('\n')) {
    lines.push(`-d ${quoted(body)}`);
  } else if (body !== null) {
    const compact = oneLine(body);
    if (compact.length <= LONG) lines.push(`-d ${quoted(compact)}`);
    else {
      lines.push("--data-binary @- <<'END'");
      document = `\n${body}\nEND`;
    }
  }
  return lines.join(' \\\n  ') + document;
}

function oneLine(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Where an answer that is no text goes to. */
function fileName(operation, request) {
  const answer = operation.answers.find(one => one.status.startsWith('2'));
  const types = Object.entries(answer?.content ?? {});
  const [type] = types.find(([, content]) => content.schema?.format === 'binary') ?? [];
  if (!type) return '';
  const last = request.url.pathname.split('/').pop();
  if (last.includes('.')) return last;
  const wanted = operation.path.endsWith('{format}') ? last
    : bodyFormat(request.body) ?? request.url.searchParams.get('to');
  const ending = type.split('/').pop();
  return `document.${wanted ?? (ending.length < 6 ? ending : 'bin')}`;
}

function bodyFormat(body) {
  try {
    const { format } = JSON.parse(body);
    return typeof format === 'string' ? format : undefined;
  } catch {
    return undefined;
  }
}
