import type { Http2Server, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { gzipSync } from 'node:zlib';
import type { Server } from '@grpc/grpc-js';

/**
 * Answers as the HTTP server of a KurrentDB server: `heard` gets the encodings that each call accepts. If `compresses`, each message is
 * compressed with gzip if the caller accepts that. The gRPC server has no such setting, so this is done on its HTTP/2 streams.
 */
export const compressAnswers = (
  server: Server,
  compresses: boolean,
  heard: (encodings: string) => void,
): void => {
  const { http2Servers } = server as unknown as { readonly http2Servers: ReadonlyMap<Http2Server, unknown> };
  for (const http2Server of http2Servers.keys())
    http2Server.prependListener('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const accepted = String(headers['grpc-accept-encoding'] ?? '');
      heard(accepted);
      if (compresses && accepted.includes('gzip')) compress(stream);
    });
};

const compress = (stream: ServerHttp2Stream): void => {
  const respond = stream.respond.bind(stream);
  const write = stream.write.bind(stream) as (frame: Buffer, done?: () => void) => boolean;
  stream.respond = (headers, options) =>
    respond({ ...(headers as OutgoingHttpHeaders), 'grpc-encoding': 'gzip' }, options);
  stream.write = ((frame: Buffer, done?: () => void) =>
    write(compressed(frame), done)) as typeof stream.write;
};

/** Length of the prefix of a message: whether it is compressed, and its length. */
const PREFIX = 5;

const compressed = (frame: Buffer): Buffer => {
  const message = gzipSync(frame.subarray(PREFIX));
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt8(1, 0);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};
