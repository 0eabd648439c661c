import { expect } from 'vitest';
import type { InterceptedAnswer, ProxiedRequest } from '../support/elasticsearch-proxy.ts';
import type { Member } from '../support/fleet.ts';
import { runVarve } from '../support/run-varve.ts';
import { answers, isBulk, only, refusal } from './break-elasticsearch.ts';
import type { Fault } from './fault.ts';
import type { FaultFleet, Roles } from './fault-fleet.ts';

const PARKED: Pick<Fault, 'during' | 'state' | 'alerts'> = {
  during: { leader: { conditions: ['documents-parked'] }, standby: { conditions: ['documents-parked'] } },
  state: /documents? (is|are) parked, because Elasticsearch refuses .*Run varve parked list/,
  alerts: ['VarveRefusedDocuments'],
};
const KEY = 'refused';

/** Sends a write to a process. Returns its text. */
async function send(member: Member, method: string, path: string, data?: object): Promise<string> {
  const answer = await fetch(`${member.server().url}/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  });
  return answer.text();
}

const documentIdOf = (text: string) =>
  (JSON.parse(text) as { readonly data: { readonly documentId: string } }).data.documentId;

/** Creates a restaurant that Elasticsearch refuses. The end of the fault deletes it. */
function refused(texts: (fleet: FaultFleet) => object, decide?: Parameters<typeof answers>[0]) {
  return async (fleet: FaultFleet, roles: Roles) => {
    const undo = decide === undefined ? undefined : await answers(decide)(fleet, roles);
    const text = await texts(fleet);
    const written = send(roles.leader, 'POST', 'restaurants', { key: KEY, name: 'Refused', ...text });
    return async () => {
      await undo?.();
      const entry = `${roles.leader.server().url}/api/restaurants/${documentIdOf(await written)}`;
      const removed = async () => (await fetch(entry, { method: 'DELETE' })).status;
      await expect.poll(removed, { timeout: 60_000, interval: 500 }).toBeOneOf([200, 202, 204, 404]);
    };
  };
}

const isRefused = (request: ProxiedRequest) => isBulk(request) && request.body.includes(`"key":"${KEY}"`);

/** Refuses one document, as a wrong value, and all others of its request, as a full queue. */
function refusesOne({ body }: ProxiedRequest): InterceptedAnswer {
  const lines = body.split('\n');
  const at = lines.flatMap((line, i) => (/^\{"(index|delete)":\{"_index"/.test(line) ? [i] : []));
  const items = at.map((i) => {
    const isWrong = lines[i + 1]?.includes(`"key":"${KEY}"`) === true;
    const error = isWrong
      ? { type: 'document_parsing_exception', reason: 'failed to parse field [f.story]' }
      : { type: 'es_rejected_execution_exception', reason: 'rejected execution' };
    return { index: { status: isWrong ? 400 : 429, error } };
  });
  return { status: 200, json: { errors: true, items } };
}

/** Returns a text whose document the node counts above its limit for one operation: four times its bytes. */
async function longText({ admin }: FaultFleet): Promise<object> {
  const stats = (await admin.send('GET', '/_nodes/stats/indexing_pressure')) as {
    readonly nodes: {
      readonly [id: string]: { indexing_pressure: { memory: { limit_in_bytes: number } } };
    };
  };
  const [node] = Object.values(stats.nodes);
  const characters = (node?.indexing_pressure.memory.limit_in_bytes ?? 0) / 15;
  let story = '';
  for (let n = 0; story.length < characters; n++) story += `word${(n * 7919) % 1_000_003} `;
  return { story };
}

/** Expects that `varve parked list` names the document and the reason. */
function namedBy(reason: RegExp): NonNullable<Fault['expectMore']> {
  return async (_fleet, { leader }) => {
    const { stdout } = await runVarve(['parked', 'list', '--json', '--data', leader.data]);
    const items = JSON.parse(stdout) as readonly { readonly type: string; readonly reason: string }[];
    expect(items[0]).toMatchObject({
      type: 'api::restaurant.restaurant',
      reason: expect.stringMatching(reason),
    });
  };
}

const argumentsOf = ({ admin, eventStore, space }: FaultFleet, { data }: Member) => [
  ...['--data', data, '--read-index', admin.url, '--event-store', eventStore, '--space', space],
];

/** Returns the path of the document of the first tag, which no write of the table changes. */
async function firstTag({
  admin,
  space,
}: FaultFleet): Promise<{ readonly index: string; readonly path: string }> {
  const index = await admin.liveIndex(`${space}-api_tag_tag-published`);
  const found = (await admin.send('GET', `/${index}/_search?size=1&sort=key`)) as {
    readonly hits: { readonly hits: readonly { readonly _id: string }[] };
  };
  return { index, path: `/${index}/_doc/${found.hits.hits[0]?._id}` };
}

/** Deletes the document of the first tag. */
export async function deleteTag(fleet: FaultFleet): Promise<void> {
  const { index, path } = await firstTag(fleet);
  await fleet.admin.send('DELETE', path);
  await fleet.admin.send('POST', `/${index}/_refresh`);
}

/** Overwrites a document, until the index is rebuilt. */
const OVERWRITTEN: Pick<Fault, 'make' | 'disturbs' | 'unnoticedFor' | 'expectMore'> = {
  unnoticedFor: Number.POSITIVE_INFINITY,
  // The next worker serves the rebuilt index.
  disturbs: ['leader'],
  make: async (fleet, { leader }) => {
    const { index, path } = await firstTag(fleet);
    await fleet.admin.send('PUT', path, { key: 4 });
    await fleet.admin.send('POST', `/${index}/_refresh`);
    return async () => {
      const repaired = await runVarve(['rebuild', '--type', 'tag', ...argumentsOf(fleet, leader)]);
      expect(repaired, repaired.stdout + repaired.stderr).toMatchObject({ code: 0 });
    };
  },
  expectMore: async (fleet, { leader }) => {
    const { code, stdout, stderr } = await runVarve(['verify', ...argumentsOf(fleet, leader)]);
    expect({ code, text: stdout + stderr }).toEqual({
      code: 1,
      text: expect.stringMatching(/api::tag\.tag/),
    });
  },
};

/** Milliseconds within which the leader finds the same difference twice, and all others have read what it found, on a busy machine. */
const COUNTED_MS = 30_000;

/** Documents that Elasticsearch refuses, or that another program has changed. */
export const DOCUMENTS: readonly Fault[] = [
  {
    name: 'a document is larger than the heap takes',
    make: refused(longText),
    ...PARKED,
    writes: { tags: 'later', countries: 'later' },
    log: /"documentId":"\w+".*Elasticsearch refuses a document/,
    expectMore: namedBy(/rejected execution|circuit_breaking|too large/),
  },
  {
    name: 'a document has a value that its field does not take',
    make: refused(() => ({}), only(isRefused, refusesOne)),
    ...PARKED,
    log: /failed to parse field.*Elasticsearch refuses a document/,
    expectMore: namedBy(/failed to parse field/),
  },
  {
    name: 'a request with one document gets 413',
    make: refused(() => ({}), only(isRefused, refusal(413, 'content_too_long', 'entity is too long'))),
    ...PARKED,
    log: /too large for a request.*Elasticsearch refuses a document/,
    expectMore: namedBy(/too large for a request/),
  },
  {
    name: 'a request with one document gets 429',
    make: refused(() => ({}), only(isRefused, refusal(429, 'circuit_breaking_exception', 'Data too large'))),
    ...PARKED,
    log: /Data too large.*Elasticsearch refuses a document/,
    expectMore: namedBy(/Data too large/),
  },
  {
    name: 'a request with one document gets 500',
    make: refused(() => ({}), only(isRefused, refusal(500, 'stack_overflow_error', 'too deep'))),
    ...PARKED,
    log: /too deep.*Elasticsearch refuses a document/,
    expectMore: namedBy(/too deep/),
  },
  {
    name: 'a connection breaks at one document',
    make: refused(() => ({}), only(isRefused, { isSent: false })),
    ...PARKED,
    log: /Elasticsearch refuses a document/,
    expectMore: namedBy(/other side closed|socket hang up|ECONNRESET/),
  },
  {
    name: 'another program deletes a document',
    make: async (fleet) => {
      await deleteTag(fleet);
      return () => {};
    },
    writes: { tags: 'later' },
    log: /lacks 1 document: another program has written it.*an index has changed behind Varve/,
    unnoticedFor: COUNTED_MS,
  },
  {
    name: 'another program adds a document',
    make: async (fleet) => {
      const { index } = await firstTag(fleet);
      await fleet.admin.send('PUT', `/${index}/_doc/1000003?refresh=true`, { key: 1_000_003 });
      return () => {};
    },
    writes: { tags: 'later' },
    log: /has 1 document too many: another program has written it.*an index has changed behind Varve/,
    unnoticedFor: COUNTED_MS,
  },
  {
    name: 'another program overwrites a document',
    ...OVERWRITTEN,
    during: { all: { tags: 503 } },
    says: /a document that Varve did not write/,
    writes: { tags: 'later' },
  },
];
