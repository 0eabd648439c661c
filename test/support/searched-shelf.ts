import { expect } from 'vitest';
import type { ShelfEdit, ShelfRequest } from './shelf-requests.ts';

/** The notes of one server. Two servers that get the same edits give the same answers. */
export type Shelf = {
  /** Sends edits in order. Returns their answers. */
  edit(edits: readonly ShelfEdit[]): Promise<readonly string[]>;
  ask(request: ShelfRequest): Promise<{ readonly status: number; readonly body: unknown }>;
};

/** The documents of a server by the names that both servers share. */
type Documents = {
  idOf(name: string): string | undefined;
  remember(name: string, id: string): void;
  /** Returns a text without the values that each server chooses itself. */
  comparable(text: string): string;
};

export function createShelf(url: string): Shelf {
  const documents = createDocuments();
  return {
    async edit(edits) {
      const answers: string[] = [];
      for (const edit of edits) answers.push(await carryOut(url, documents, edit));
      return answers;
    },
    async ask({ path, body, isOrdered }) {
      const { status, text } = await send(url, body === undefined ? 'GET' : 'POST', path, body);
      const found = JSON.parse(documents.comparable(text)) as Found;
      return { status, body: isOrdered ? found : unordered(found) };
    },
  };
}

const DOCUMENT_ID = /\b[a-z0-9]{24}\b/g;
const MOMENT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

function createDocuments(): Documents {
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  return {
    idOf: (name) => ids.get(name),
    remember(name, id) {
      ids.set(name, id);
      names.set(id, name);
    },
    comparable: (text) =>
      text
        .replace(DOCUMENT_ID, (id) => names.get(id) ?? id)
        .replace(MOMENT, 'a moment')
        .replace(/"processingTimeMS":\d+/g, '"processingTimeMS":0')
        // A cursor contains a score, which differs between engines.
        .replace(/"nextCursor":"[^"]*"/g, '"nextCursor":"more"'),
  };
}

type Sent = { readonly status: number; readonly text: string };

async function send(url: string, method: string, path: string, body?: string): Promise<Sent> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method, ...(body === undefined ? {} : { body, headers }) });
  const text = await answer.text();
  expect(answer.status, `${path} ${text}`).toBeLessThan(500);
  return { status: answer.status, text };
}

async function carryOut(url: string, documents: Documents, edit: ShelfEdit): Promise<string> {
  const write = (path: string, data: object, name: string) =>
    writeNamed(url, documents, { path, data, name });
  switch (edit.kind) {
    case 'write': {
      const { note, locale, isDraft, data, topics } = edit;
      const linked = topics?.flatMap((topic) => documents.idOf(`topic ${topic}`) ?? []);
      const query = `locale=${locale}${isDraft ? '&status=draft' : ''}`;
      return write(`notes?${query}`, { ...data, ...(linked && { topics: linked }) }, `note ${note}`);
    }
    case 'rename': {
      const field = documents.idOf(`field ${edit.field}`);
      return write('topics?', { name: edit.name, ...(field && { field }) }, `topic ${edit.topic}`);
    }
    case 'rename-field':
      return write('fields?', { name: edit.name }, `field ${edit.field}`);
    default:
      return changeNote(url, documents, edit);
  }
}

type Written = { readonly path: string; readonly data: object; readonly name: string };

/** Updates the document, or creates it if it does not exist. */
async function writeNamed(url: string, documents: Documents, { path, data, name }: Written): Promise<string> {
  const id = documents.idOf(name);
  const [plural, query] = path.split('?');
  const body = JSON.stringify({ data });
  const put = id === undefined ? undefined : await send(url, 'PUT', `/api/${plural}/${id}?${query}`, body);
  const last =
    put === undefined || put.status === 404 ? await send(url, 'POST', `/api/${plural}?${query}`, body) : put;
  if (last.status < 300)
    documents.remember(name, (JSON.parse(last.text) as { data: { documentId: string } }).data.documentId);
  return `${put?.status} ${last.status} ${documents.comparable(last.text)}`;
}

type NoteChange = Exclude<ShelfEdit, { readonly kind: 'write' | 'rename' | 'rename-field' }>;

async function changeNote(url: string, documents: Documents, edit: NoteChange): Promise<string> {
  const id = documents.idOf(`note ${edit.note}`);
  if (id === undefined) return 'no note';
  const path = `/api/notes/${id}`;
  const { status, text } = await sendChange(url, path, edit, documents);
  return `${status} ${documents.comparable(text)}`;
}

function sendChange(url: string, path: string, edit: NoteChange, { idOf }: Documents): Promise<Sent> {
  switch (edit.kind) {
    case 'delete':
      return send(url, 'DELETE', `${path}?locale=${edit.locale}`);
    case 'publish':
    case 'unpublish':
      return send(url, 'POST', `${path}/actions/${edit.kind}?locale=${edit.locale}`);
    default: {
      const topic = idOf(`topic ${edit.topic}`);
      const change = { [edit.kind]: topic === undefined ? [] : [topic] };
      return send(url, 'PUT', path, JSON.stringify({ data: { topics: change } }));
    }
  }
}

type Found = {
  readonly data?: readonly unknown[] | null;
  readonly results?: readonly { readonly hits?: readonly unknown[] }[];
};

/** Returns the answer with its hits in an order that does not depend on the engine. */
function unordered({ data, results, ...rest }: Found): unknown {
  return {
    ...rest,
    data: data && sorted(data),
    results: results?.map((each) => (each.hits === undefined ? each : { ...each, hits: sorted(each.hits) })),
  };
}

function sorted(list: readonly unknown[]): readonly unknown[] {
  return list.map((each) => JSON.stringify(each)).sort();
}
