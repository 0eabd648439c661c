import { signal } from '@preact/signals';

/** State of the page. All of it is in the URL behind `#`, which no server sees. */
export type Route = {
  /** First segment, such as `content`. */
  readonly part: string;
  /** Further segments. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
};

export const route = signal<Route>(parseHash(location.hash));

addEventListener('hashchange', () => {
  route.value = parseHash(location.hash);
});

function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [part = '', ...rest] = path.split('/').map(decoded);
  return { part: part === '' ? 'overview' : part, rest, query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the moment whose content the content part shows: a position of the log or an instant; undefined: now. */
export function asOf(): string | undefined {
  return route.value.query.get('asOf') || undefined;
}

/** Returns the link to a part of the page. Parameters without a value are omitted. */
export function linkTo(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const past = path[0] === 'content' ? { asOf: asOf() } : {};
  const kept = Object.entries({ ...past, ...query }).filter(
    (each): each is [string, string] => (each[1] ?? '') !== '',
  );
  const text = new URLSearchParams(kept).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Opens a part of the page. `replace`: the browser's back button omits the present state. */
function open(link: string, replace = false): void {
  if (replace) {
    history.replaceState(null, '', link);
    route.value = parseHash(link);
  } else {
    location.hash = link;
  }
}

/** Changes parameters of the present part. Parameters without a value are removed. */
export function change(query: Readonly<Record<string, string | undefined>>, replace = false): void {
  const { part, rest, query: present } = route.value;
  open(linkTo([part, ...rest], { ...Object.fromEntries(present), ...query }), replace);
}
