import { pointOf } from '../../geo-area.ts';
import type { FieldValues } from '../../read-index.ts';
import { type DocumentLayout, memberOf, pointName } from '../layout/document-layout.ts';
import { type ByteSink, writeText } from './byte-sink.ts';

/** Writes `,"p":{…}` with the points of a row, if it has any. */
export function writePoints(sink: ByteSink, points: DocumentLayout['points'], fields: FieldValues): void {
  let p = '';
  for (const columns of points) {
    const point = pointOf(fields[columns.lat], fields[columns.lng]);
    if (point === undefined) continue;
    p += `${p === '' ? '' : ','}${memberOf(pointName(columns))}[${point.lng},${point.lat}]`;
  }
  if (p !== '') writeText(sink, `,"p":{${p}}`);
}
