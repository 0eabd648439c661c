import { type Action, may, mayReadDrafts, type Rights } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { FILE_TYPE, type Uid, USER_TYPE } from '../../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { UploadPart } from '../../assets/receive-upload.ts';
import { objectsIn, parseDataPayload } from '../../command/parse-data.ts';
import { refuseUnknownKeys } from '../../command/refuse-unknown-keys.ts';
import { parseQueryString } from '../../query/query-string.ts';
import type { ContentApi, EntryAction, UsersApi } from './content-api.ts';
import type { UploadApi } from './upload-api.ts';

const ACTION_RIGHTS: Readonly<Record<EntryAction, Action>> = {
  publish: 'publish',
  unpublish: 'unpublish',
  'discard-draft': 'discardDraft',
};

/** The APIs whose operations need rights. */
export type GuardedApis = { readonly content: ContentApi; readonly uploads: UploadApi };

/**
 * Returns the APIs for a caller with these rights. They answer 403 to everything else, before anything is looked up. `visible`: the content
 * types that the caller sees. A body that names others is refused like one with an unknown key.
 */
export function guardApis(apis: GuardedApis, rights: Rights, visible: SchemaRegistry): GuardedApis {
  const allow: Allow = (type, action) => {
    if (!may(rights, type, action)) throw forbidden();
  };
  return {
    content: guardContent(apis.content, { allow, rights, visible }),
    uploads: guardUploads(apis.uploads, allow),
  };
}

type Guard = { readonly allow: Allow; readonly rights: Rights; readonly visible: SchemaRegistry };
/** Throws RequestError (403) if the caller may not do this with entries of the type. */
type Allow = (type: Uid, action: Action) => void;

function guardContent(api: ContentApi, { allow, rights, visible }: Guard): ContentApi {
  const allowBody = ({ uid }: { readonly uid: Uid }, action: Action, body: unknown) => {
    allow(uid, action);
    for (const data of objectsIn(parseDataPayload(body)))
      refuseUnknownKeys(visible, contentTypeOf(visible, uid), data);
  };
  return {
    list: checked(api.list, (type) => allow(type.uid, 'find')),
    suggest: checked(api.suggest, (type) => allow(type.uid, 'find')),
    entry: checked(api.entry, (type) => allow(type.uid, 'findOne')),
    create: checked(api.create, (type, _query, body) => allowBody(type, 'create', body)),
    update: checked(api.update, ({ type }, _query, body) => allowBody(type, 'update', body)),
    remove: checked(api.remove, ({ type }) => allow(type.uid, 'delete')),
    act: checked(api.act, ({ type }, action) => allow(type.uid, ACTION_RIGHTS[action])),
    restore: checked(api.restore, ({ type }) => {
      allow(type.uid, 'update');
      if (type.draftAndPublish && !mayReadDrafts(rights)) throw forbidden();
    }),
    single: checked(api.single, (type) => allow(type.uid, 'find')),
    putSingle: checked(api.putSingle, (type, _query, body) => allowBody(type, 'update', body)),
    removeSingle: checked(api.removeSingle, (type) => allow(type.uid, 'delete')),
    async locales() {
      const localized = [...visible.contentTypes.values()].filter((type) => type.localized);
      if (!localized.some(({ uid }) => may(rights, uid, 'find'))) throw forbidden();
      return api.locales();
    },
    users: guardUsers(api.users, allow),
  };
}

/** Returns `run` behind a check: it is called only if `check` does not throw. */
function checked<Arguments extends readonly unknown[], Answer>(
  run: (...given: Arguments) => Promise<Answer>,
  check: (...given: Arguments) => void,
): (...given: Arguments) => Promise<Answer> {
  return async (...given) => {
    check(...given);
    return run(...given);
  };
}

function guardUsers(users: UsersApi, allow: Allow): UsersApi {
  return {
    list: checked(users.list, () => allow(USER_TYPE, 'find')),
    count: checked(users.count, () => allow(USER_TYPE, 'find')),
    one: checked(users.one, () => allow(USER_TYPE, 'findOne')),
    me: users.me,
    create: checked(users.create, () => allow(USER_TYPE, 'create')),
    update: checked(users.update, () => allow(USER_TYPE, 'update')),
    remove: checked(users.remove, () => allow(USER_TYPE, 'delete')),
  };
}

/** Linking a file with an entry changes that entry, so it needs the right to update it. */
function guardUploads(api: UploadApi, allow: Allow): UploadApi {
  return {
    list: checked(api.list, () => allow(FILE_TYPE, 'find')),
    one: checked(api.one, () => allow(FILE_TYPE, 'findOne')),
    async write(query, body, command) {
      // A write with `id` changes an existing file, as in the API itself.
      allow(FILE_TYPE, parseQueryString(query)['id'] === undefined ? 'create' : 'update');
      const guarded = body.kind === 'form' ? { ...body, parts: guardedParts(body.parts, allow) } : body;
      return api.write(query, guarded, command);
    },
    remove: checked(api.remove, () => allow(FILE_TYPE, 'delete')),
  };
}

/** Checks the field `ref`, which names the type of the entry that the files are linked with. */
async function* guardedParts(parts: AsyncIterable<UploadPart>, allow: Allow): AsyncGenerator<UploadPart> {
  for await (const part of parts) {
    if (part.kind === 'field' && part.name === 'ref') allow(String(part.value), 'update');
    yield part;
  }
}

/** Returns Strapi's error for a caller without the right, anonymous or not. */
export function forbidden(): RequestError {
  return new RequestError('forbidden', 'Forbidden');
}
