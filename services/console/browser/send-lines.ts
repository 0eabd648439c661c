/** A request as people write it: a method, a path with its query string, and a body: JSON, or a form with files. */
export type Shown = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly files?: readonly string[];
};

/** A program that sends a request. */
export type SendLines = { readonly name: string; readonly text: string };

/**
 * Returns how to send a request without the page: with `curl`, with `fetch`, and with Strapi's client if it is a read of the content API.
 * `hasToken`: the request needs one; the lines name a variable for it, never the token itself.
 */
export function sendLines(origin: string, request: Shown, hasToken: boolean): readonly SendLines[] {
  const client = clientLines(origin, request, hasToken);
  return [
    { name: 'curl', text: curlLine(origin, request, hasToken) },
    { name: 'fetch', text: fetchLines(origin, request, hasToken) },
    ...(client === undefined ? [] : [{ name: '@strapi/client', text: client }]),
  ];
}

function curlLine(origin: string, { method, path, body, files = [] }: Shown, hasToken: boolean): string {
  return [
    'curl -g',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    shellWord(origin + path),
    ...(hasToken ? ['-H "Authorization: Bearer $VARVE_TOKEN"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d ${shellWord(JSON.stringify(body))}`]),
    ...files.map((name) => `-F ${shellWord(`files=@${name}`)}`),
  ].join(' ');
}

/** Quotes a text as one word of a shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fetchLines(origin: string, { method, path, body, files = [] }: Shown, hasToken: boolean): string {
  const headers = [
    ...(hasToken ? ['authorization: `Bearer ' + '$' + '{process.env.VARVE_TOKEN}`'] : []),
    ...(body === undefined ? [] : ["'content-type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
    ...(files.length === 0 ? [] : ['  body: form,']),
  ];
  const form = files.map(
    (name) => `form.append('files', await openAsBlob(${JSON.stringify(name)}), ${JSON.stringify(name)});\n`,
  );
  const before =
    form.length === 0
      ? ''
      : `import { openAsBlob } from 'node:fs';\nconst form = new FormData();\n${form.join('')}`;
  const url = JSON.stringify(origin + path);
  const call = options.length === 0 ? `fetch(${url})` : `fetch(${url}, {\n${options.join('\n')}\n})`;
  return `${before}const answer = await ${call};\nconsole.log(await answer.json());`;
}

function clientLines(origin: string, { method, path }: Shown, hasToken: boolean): string | undefined {
  const [, plural, id, query = ''] = /^\/api\/([\w-]+)(?:\/([\w-]+))?(?:\?(.*))?$/.exec(path) ?? [];
  if (method !== 'GET' || plural === undefined) return undefined;
  const options = treeOf(query);
  const text = Object.keys(options).length === 0 ? '' : JSON.stringify(options, null, 2);
  const call = id === undefined ? `find(${text})` : `findOne('${id}'${text === '' ? '' : `, ${text}`})`;
  const auth = hasToken ? ', auth: process.env.VARVE_TOKEN' : '';
  return [
    "import { strapi } from '@strapi/client';",
    `const client = strapi({ baseURL: '${origin}/api'${auth} });`,
    `console.log(await client.collection('${plural}').${call});`,
  ].join('\n');
}

type Tree = { [name: string]: Tree | string };

/** Returns the object that a query string in brackets means. */
function treeOf(query: string): Tree {
  const tree: Tree = Object.create(null);
  for (const [key, value] of new URLSearchParams(query)) {
    const [first = '', ...rest] = key.split(/\]?\[|\]$/).filter((part, i) => i === 0 || part !== '');
    let at = tree;
    let name = first;
    for (const next of rest) {
      const inner = at[name];
      const child: Tree = typeof inner === 'object' ? inner : Object.create(null);
      at[name] = child;
      at = child;
      name = next;
    }
    at[name] = value;
  }
  return tree;
}
