import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';

/** Information for the first minute, printed when the server serves. */
export type StartMessage = {
  readonly url: string;
  readonly registry: SchemaRegistry;
  /** Data directory; absent if the process has none. */
  readonly data?: string;
  /** True: the process answers no reads. */
  readonly writesOnly?: boolean;
  readonly tryUrl?: string | undefined;
  /** True: the server has a search page. */
  readonly searches?: boolean;
  /** Number of example documents that this start wrote; absent if none. */
  readonly examples?: number | undefined;
  /** True: there are no access tokens, and no public rights were set. */
  readonly development: boolean;
  /** Differences from the project's Strapi, one line each. */
  readonly notes: readonly string[];
  /** Origins of pages that may call from a browser, and the project's file that lists them. */
  readonly pages: { readonly origins: readonly string[]; readonly file?: string };
};

const DEVELOPMENT = [
  '  Open  Development mode: there are no access tokens, so everyone on this machine may read and change',
  '        everything. Only loopback addresses are served.',
];

const GUARDED = [
  '  Open  Requests need an access token (varve token create), or rights that --public gives to everyone.',
];

/** Returns the lines that a server prints when it accepts requests, without a last line break. */
export function startMessage(message: StartMessage): string {
  const count = [...message.registry.contentTypes.values()].filter((type) => !type.builtIn).length;
  const types = `${count} content type${count === 1 ? '' : 's'}`;
  return [
    `Varve serves ${message.writesOnly ? 'writes of ' : ''}${types} at ${message.url}`,
    '',
    ...(message.development && !message.writesOnly ? browserNote(message) : []),
    ...(message.tryUrl === undefined ? [] : [`  Try   curl -g '${message.tryUrl}'`]),
    ...(message.data === undefined ? [] : [`  Data  ${message.data}${examplesNote(message)}`]),
    ...(message.writesOnly ? [] : [`  Docs  ${message.url}/docs`]),
    ...(message.development ? DEVELOPMENT : GUARDED),
    `  Pages ${pagesNote(message.pages)}`,
    ...(message.notes.length === 0 ? [] : ['', 'Not as in Strapi:']),
    ...message.notes.map((note) => `  ${note}`),
    '',
    'Press Ctrl-C to stop.',
  ].join('\n');
}

function browserNote({ url, searches }: StartMessage): readonly string[] {
  const start = `  See   ${url}/ in a browser: the console, with content types, an example query and the documentation`;
  return searches ? [start, `        ${url}/search in a browser: a search page`] : [start];
}

function pagesNote({ origins, file }: StartMessage['pages']): string {
  if (origins.length === 0)
    return 'Pages of other origins may not call it from a browser: list those that may with --cors.';
  const which = origins.includes('*') ? 'Pages of every origin' : `Pages of ${origins.join(', ')}`;
  return `${which} may call it from a browser${file === undefined ? '' : `, as configured in ${file}; --cors overrides it`}.`;
}

function examplesNote({ examples }: StartMessage): string {
  return examples === undefined ? '' : ` (${examples} example documents were written)`;
}
