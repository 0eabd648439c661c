import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { uploadPath } from '../../../services/follow/open-follower.ts';
import { documentsOfWebhook, touchedDocuments } from '../../../services/follow/touched-documents.ts';
import { FILE_TYPE, USER_TYPE } from '../../../shared/schema/content-type.ts';
import { corpusSchemas } from '../command-world.ts';

const { registry } = corpusSchemas();
const RESTAURANT = 'api::restaurant.restaurant';
const ofId = (_type: string, id: number) => (id === 7 ? { documentId: 'seventh' } : undefined);

describe('documents of a write', () => {
  it.each([
    ['/restaurants', { data: { documentId: 'abc' } }, [{ type: RESTAURANT, documentId: 'abc' }]],
    ['/restaurants/abc', undefined, [{ type: RESTAURANT, documentId: 'abc' }]],
    [
      '/upload',
      [{ documentId: 'f1' }, { documentId: 'f2' }],
      [
        { type: FILE_TYPE, documentId: 'f1' },
        { type: FILE_TYPE, documentId: 'f2' },
      ],
    ],
    ['/upload/files/7', undefined, [{ type: FILE_TYPE, documentId: 'seventh' }]],
    ['/users', { id: 3, documentId: 'u' }, [{ type: USER_TYPE, documentId: 'u' }]],
    ['/users/7', {}, [{ type: USER_TYPE, documentId: 'seventh' }]],
    ['/auth/local/register', { jwt: 'x', user: { documentId: 'u' } }, [{ type: USER_TYPE, documentId: 'u' }]],
    ['/a-route-of-the-project', { documentId: 'abc' }, undefined],
    ['/restaurants/..%2Fusers', undefined, [{ type: RESTAURANT, documentId: '../users' }]],
  ])('%s', (path, body, names) => {
    expect(touchedDocuments(registry, ofId, { path, body })).toEqual(names);
  });
});

it('reads only the name of the document from each webhook that Strapi 5.54 sent', () => {
  const file = join(import.meta.dirname, '../../support/archives/strapi-5.54-webhooks.json');
  const sent = JSON.parse(readFileSync(file, 'utf8')) as {
    body: { uid: string; entry: { documentId: string } };
  }[];
  expect(sent.length).toBeGreaterThan(5);
  for (const { body } of sent)
    expect(documentsOfWebhook(registry, body)).toEqual([
      { type: body.uid, documentId: body.entry.documentId },
    ]);
});

it.each([[undefined], [{}], [{ uid: 'api::other.other', entry: { documentId: 'a' } }], ['text'], [[]]])(
  'ignores a webhook without a known document: %j',
  (body) => {
    expect(documentsOfWebhook(registry, body)).toBeUndefined();
  },
);

describe('files come only from the followed Strapi', () => {
  it.each([
    ['/uploads/a_1.png', '/uploads/a_1.png'],
    ['http://cms.example.com/uploads/a.png', '/uploads/a.png'],
    ['http://169.254.169.254/uploads/a.png', undefined],
    ['//elsewhere.example.com/uploads/a.png', undefined],
    ['/uploads/../admin/secret', undefined],
    ['/uploads/folder/a.png', undefined],
    ['file:///uploads/passwd', undefined],
    [undefined, undefined],
  ])('%s', (url, path) => {
    expect(uploadPath(url, 'http://cms.example.com')).toBe(path);
  });
});
