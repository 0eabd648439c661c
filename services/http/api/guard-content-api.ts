import { type Action, may, type Rights } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { FILE_TYPE, type Uid, USER_TYPE } from '../../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { UploadPart } from '../../assets/receive-upload.ts';
import { objectsIn, parseDataPayload } from '../../command/parse-data.ts';
import { refuseUnknownKeys } from '../../command/refuse-unknown-keys.ts';
import { parseQueryString } from '../../query/query-string.ts';
import type { ContentApi, EntryAction, UsersApi } from './content-api.ts';
import type { UploadApi, UploadBody } from './upload-api.ts';

const ACTION_RIGHTS: Readonly<Record<EntryAction, Action>> = {
  publish: 'publish',
  unpublish: 'unpublish',
  'discard-draft': 'discardDraft',
};

/**
 * `api` for a caller with these rights: 403 for everything else, before anything is looked up. `visible` are the
 * content types that the caller sees; a body that names others is refused like one with an unknown key.
 */
export function guardContentApi(api: ContentApi, rights: Rights, visible: SchemaRegistry): ContentApi {
  const allow = guard(rights);
  const allowBody = ({ uid }: { readonly uid: Uid }, action: Action, body: unknown) => {
    allow(uid, action);
    for (const data of objectsIn(parseDataPayload(body)))
      refuseUnknownKeys(visible, contentTypeOf(visible, uid), data);
  };
  return {
    async list(type, query, asking) {
      allow(type.uid, 'find');
      return api.list(type, query, asking);
    },
    async entry(type, documentId, query, asking) {
      allow(type.uid, 'findOne');
      return api.entry(type, documentId, query, asking);
    },
    async create(type, query, body, command) {
      allowBody(type, 'create', body);
      return api.create(type, query, body, command);
    },
    async update(target, query, body, command) {
      allowBody(target.type, 'update', body);
      return api.update(target, query, body, command);
    },
    async remove(target, query, command) {
      allow(target.type.uid, 'delete');
      return api.remove(target, query, command);
    },
    async act(target, action, query, command) {
      allow(target.type.uid, ACTION_RIGHTS[action]);
      return api.act(target, action, query, command);
    },
    async single(type, query, asking) {
      allow(type.uid, 'find');
      return api.single(type, query, asking);
    },
    async putSingle(type, query, body, command) {
      allowBody(type, 'update', body);
      return api.putSingle(type, query, body, command);
    },
    async removeSingle(type, query, command) {
      allow(type.uid, 'delete');
      return api.removeSingle(type, query, command);
    },
    async locales() {
      const localized = [...visible.contentTypes.values()].filter((type) => type.localized);
      if (!localized.some(({ uid }) => may(rights, uid, 'find'))) throw forbidden();
      return api.locales();
    },
    users: guardUsersApi(api.users, allow),
  };
}

function guardUsersApi(users: UsersApi, allow: Allow): UsersApi {
  return {
    async list(query, asking) {
      allow(USER_TYPE, 'find');
      return users.list(query, asking);
    },
    async count(query) {
      allow(USER_TYPE, 'find');
      return users.count(query);
    },
    async one(id, query) {
      allow(USER_TYPE, 'findOne');
      return users.one(id, query);
    },
    me: users.me,
    async create(body, command) {
      allow(USER_TYPE, 'create');
      return users.create(body, command);
    },
    async update(id, body, command) {
      allow(USER_TYPE, 'update');
      return users.update(id, body, command);
    },
    async remove(id, command) {
      allow(USER_TYPE, 'delete');
      return users.remove(id, command);
    },
  };
}

/** The same for files. Linking a file with an entry changes that entry. */
export function guardUploadApi(api: UploadApi, rights: Rights): UploadApi {
  const allow = guard(rights);
  return {
    async list(query) {
      allow(FILE_TYPE, 'find');
      return api.list(query);
    },
    async one(id, query) {
      allow(FILE_TYPE, 'findOne');
      return api.one(id, query);
    },
    async write(query, body, command) {
      // As in the API itself: with `id` it changes an existing file.
      allow(FILE_TYPE, parseQueryString(query)['id'] === undefined ? 'create' : 'update');
      return api.write(query, guardedLinks(body, allow), command);
    },
    async remove(id, command) {
      allow(FILE_TYPE, 'delete');
      return api.remove(id, command);
    },
  };
}

function guardedLinks(body: UploadBody, allow: Allow): UploadBody {
  return body.kind === 'form' ? { ...body, parts: guardedParts(body.parts, allow) } : body;
}

/** `ref` names the type of the entry that the files are linked with. */
async function* guardedParts(parts: AsyncIterable<UploadPart>, allow: Allow): AsyncGenerator<UploadPart> {
  for await (const part of parts) {
    if (part.kind === 'field' && part.name === 'ref') allow(String(part.value), 'update');
    yield part;
  }
}

type Allow = (type: Uid, action: Action) => void;

function guard(rights: Rights): Allow {
  return (type, action) => {
    if (!may(rights, type, action)) throw forbidden();
  };
}

/** Strapi's answer to a caller without the right, anonymous or not. */
export function forbidden(): RequestError {
  return new RequestError('forbidden', 'Forbidden');
}
