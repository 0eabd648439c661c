import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { AccessControl } from '../../access/access-control.ts';
import { wholePageHeaders } from './page-headers.ts';
import { showContent } from './start-page-script.ts';

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.2rem 1.5rem 0.2rem 0; }
td.count { text-align: right; }
`;

/** The text of the function is JavaScript, because Node has stripped its types. */
const SCRIPT = `
'use strict';
${showContent.toString()}
showContent(document, fetch.bind(window));
`;

/** Returns the page in one file, with or without a link to a search page. */
function startPage(hasSearch: boolean): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Varve</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<h1>Varve</h1>
<p>This server is in development mode: there are no access tokens, and everyone on this machine may read and change everything.</p>
<ul>
${hasSearch ? '<li><a href="/search">Search page</a>: InstantSearch on this content</li>\n' : ''}<li><a href="/docs">API documentation</a>: every endpoint, to try</li>
<li><a href="/openapi.json">OpenAPI document</a></li>
</ul>
<h2>Content types</h2>
<table>
<thead><tr><th>type</th><th>entries</th><th>endpoint</th></tr></thead>
<tbody id="types"></tbody>
</table>
<h2>An example query</h2>
<p id="example">There is no content yet.</p>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** Registers `/`, the page that a new user sees first. Outside development mode the path does not exist. */
export function registerStartPage(
  app: FastifyInstance,
  { access, hasSearch }: { readonly access: AccessControl; readonly hasSearch: boolean },
): void {
  const page = startPage(hasSearch);
  const headers = wholePageHeaders(SCRIPT, STYLE);
  app.get('/', (_request, reply) => {
    if (!access.state().development) throw new RequestError('not-found', 'Not Found');
    return reply.headers(headers).type('text/html; charset=utf-8').send(page);
  });
}
