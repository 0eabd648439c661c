/** Changes of indices as an operator makes them, past Varve. */
export type ElasticsearchAdmin = {
  readonly url: string;
  /** Sends a request. Returns the answer, and fails if Elasticsearch refuses. */
  send(method: string, path: string, body?: object): Promise<unknown>;
  /** Returns the index that an alias names. */
  liveIndex(alias: string): Promise<string>;
  /** Takes the snapshot that `restore` restores. */
  snapshot(): Promise<void>;
  /** Restores indices of the last snapshot over the existing ones. */
  restore(indices: string): Promise<void>;
  /** Deletes all indices of a namespace. */
  deleteAll(space: string): Promise<void>;
  close(): Promise<void>;
};

/** Leaves out indices that Varve has removed meanwhile. */
const GONE = 'ignore_unavailable=true';

/** Creates the administration of a namespace at a node, and at others while that one is down, with a repository for its snapshots in the folder of the node or of its cluster. */
export async function createElasticsearchAdmin(
  url: string,
  space: string,
  otherNodes: readonly string[] = [],
): Promise<ElasticsearchAdmin> {
  const repository = `/_snapshot/${space}`;
  let snapshots = 0;
  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(url + path, init).catch((error: unknown) =>
      firstOf(otherNodes, path, init, error),
    );
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const namesOf = async (pattern: string): Promise<readonly string[]> =>
    Object.keys((await send('GET', `/${pattern}?filter_path=*.aliases&expand_wildcards=all`)) as object);
  /** Sends a request about the indices of a pattern, and returns their names. Varve may remove one of them meanwhile. */
  const sendAbout = async (pattern: string, method: string, action: string): Promise<string> => {
    for (;;) {
      const names = (await namesOf(pattern)).join();
      try {
        await send(method, `/${names}${action}?${GONE}`);
        return names;
      } catch (error) {
        if (!String(error).includes('index_not_found_exception')) throw error;
      }
    }
  };
  await send('PUT', `${repository}?verify=false`, { type: 'fs', settings: { location: space } });
  return {
    url,
    send,
    async liveIndex(alias) {
      const [index = ''] = Object.keys((await send('GET', `/_alias/${alias}`)) as object);
      return index;
    },
    async snapshot() {
      snapshots++;
      const body = { indices: `${space}-*`, include_global_state: false };
      await send('PUT', `${repository}/s${snapshots}?wait_for_completion=true`, body);
    },
    async restore(indices) {
      const names = await sendAbout(indices, 'POST', '/_close');
      const body = { indices: names, include_global_state: false };
      await send('POST', `${repository}/s${snapshots}/_restore?wait_for_completion=true`, body);
    },
    async deleteAll(of) {
      await sendAbout(`${of}-*`, 'DELETE', '');
    },
    async close() {
      await send('DELETE', `${repository}/*`).catch(() => {});
      await send('DELETE', repository);
    },
  };
}

/** Sends a request to one node after the other until one accepts the connection. */
async function firstOf(
  urls: readonly string[],
  path: string,
  init: RequestInit,
  failure: unknown,
): Promise<Response> {
  for (const url of urls) {
    const answer = await fetch(url + path, init).catch(() => undefined);
    if (answer !== undefined) return answer;
  }
  throw failure;
}
