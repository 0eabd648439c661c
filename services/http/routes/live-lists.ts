import { rightsKey } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { presentInV4, V4_FORMAT, V4_HEADER } from '../answers/v4-format.ts';
import { wantsStream } from '../requests/wants-stream.ts';
import { createListStreams } from '../streams/list-streams.ts';
import type { LiveLists } from './entry-routes.ts';
import { readStreamRequest, type StreamContext } from './open-stream.ts';

const LIVE = /(?:^|&)live=([^&]*)/;

/** Creates the answers to `live=true` and `live=notify`. Only a process with an embedded index has them; others refuse both. */
export function createLiveLists(options: StreamContext & { readonly registry: SchemaRegistry }): LiveLists {
  const lists = createListStreams(options);
  return {
    wants: wantsStream,
    async answer(type, request, reply) {
      const asked = await readStreamRequest(options, request, reply);
      const live = LIVE.exec(asked.query)?.[1];
      if (live !== 'true' && live !== 'notify') throw invalidLive(live);
      const query = asked.query.replace(LIVE, '').replace(/^&/, '');
      const { content, delivery } = options.apiFor(asked.rights);
      const { generation, known } = delivery;
      if (known === undefined)
        throw new RequestError('not-supported', "This process does not support 'live'", {
          source: 'query',
          param: 'live',
          accepted: 'nothing: live lists need the embedded index',
        });
      const isV4 = request.headers[V4_HEADER] === V4_FORMAT;
      const list = {
        name: `live ${isV4 ? `${V4_FORMAT} ` : ''}${rightsKey(asked.rights)} ${type.uid} ${query}`,
        generation,
        known,
        answer: async (asking: Parameters<typeof content.list>[2]) => {
          const body = await content.list(type, query, asking);
          return isV4 ? presentInV4(options.registry, type, body) : body;
        },
      };
      const open = async () => ({ stream: await asked.open(), isNotify: live === 'notify' });
      await lists.sendTo(list, open, asked.last);
    },
  };
}

function invalidLive(found: string | undefined): RequestError {
  return new RequestError('invalid-query', "A stream of a list needs 'live=true' or 'live=notify'", {
    source: 'query',
    param: 'live',
    found: found ?? null,
    accepted: ['true', 'notify'],
  });
}
