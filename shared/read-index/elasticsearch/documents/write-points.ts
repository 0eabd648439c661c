import { isOnEarth } from '../../geo-area.ts';
import type { FieldValues } from '../../read-index.ts';
import { type DocumentLayout, memberOf, pointName } from '../layout/document-layout.ts';
import { type ByteSink, writeText } from './byte-sink.ts';

/** Writes `,"p":{…}` with the points of a row, if it has any. */
export function writePoints(sink: ByteSink, points: DocumentLayout['points'], fields: FieldValues): void {
  let p = '';
  for (const columns of points) {
    const [lat, lng] = [fields[columns.lat], fields[columns.lng]];
    if (typeof lat !== 'number' || typeof lng !== 'number' || !isOnEarth({ lat, lng })) continue;
    p += `${p === '' ? '' : ','}${memberOf(pointName(columns))}[${lng},${lat}]`;
  }
  if (p !== '') writeText(sink, `,"p":{${p}}`);
}
