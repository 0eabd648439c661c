import { expect, test } from 'vitest';
import { realServerUrl } from '../support/kurrentdb/real-server.ts';

test.each([
  [undefined, undefined],
  ['', undefined],
  ['kurrentdb://a:2113?tls=false', 'kurrentdb://a:2113?tls=false'],
  ['kurrentdb://a:1,b:2,c:3?tls=false', 'kurrentdb://a:1,b:2,c:3?tls=false'],
  ['a:1,b:2?tls=false', 'kurrentdb://a:1,b:2?tls=false'],
  ['esdb://u:p@a:1?tls=false,esdb://u:p@b:2?tls=false,esdb://c:3', 'esdb://u:p@a:1,b:2,c:3?tls=false'],
])('VARVE_TEST_KURRENTDB=%s is %s', (given, url) => {
  expect(realServerUrl(given ?? '')).toBe(url);
});
