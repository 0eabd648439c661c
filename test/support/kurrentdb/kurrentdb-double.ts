import { Buffer } from 'node:buffer';
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import serverFeatures from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_grpc_pb.js';
import featuresPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_pb.js';
import streamsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js';
import { appendCall, batchAppendCall } from './double-append.ts';
import { createDoubleFaults, type DoubleCall, type DoubleFaults, type Fault } from './double-faults.ts';
import { createDoubleLog, type DoubleLog } from './double-log.ts';
import { accessDeniedError, notLeaderError, rpcError } from './double-messages.ts';
import { readCall } from './double-read.ts';
import type { DoubleServices, Observed } from './double-services.ts';

export type KurrentDbDoubleOptions = {
  /** Shared by several doubles, they are the nodes of one cluster. Default: a log of its own. */
  readonly log?: DoubleLog;
  readonly credentials?: { readonly username: string; readonly password: string };
  /** PEM. Default: no TLS. */
  readonly tls?: { readonly key: Buffer; readonly certificate: Buffer };
  readonly maxAppendSize?: number;
  readonly dropSlowAfter?: number;
  /** Whether it says that it has `BatchAppend` (EventStoreDB 21.10 and later). Default: true. */
  readonly batchAppend?: boolean;
};

export type KurrentDbDouble = {
  readonly host: string;
  readonly port: number;
  /** For openKurrentDbEventStore; without credentials. */
  readonly url: string;
  readonly log: DoubleLog;
  readonly faults: DoubleFaults;
  /** How many calls of each kind arrived. */
  readonly calls: { readonly [call in DoubleCall]: number };
  readonly observed: Observed;
  /** From now on calls that need the leader are sent to that node. */
  follow(leader: KurrentDbDouble): void;
  /** Cuts every connection and refuses new ones until `resume`, which takes the same port again. */
  interrupt(): void;
  resume(): Promise<void>;
  stop(): void;
};

/**
 * A TEST DOUBLE of a KurrentDB node, in this process: it answers, over real gRPC on a port of its own, the calls that the
 * official client makes (server features, append, batch append, read, subscribe) from a log in memory, with the messages that
 * the client package was generated with. It shows that the adapter speaks the protocol and stands faults; it proves nothing
 * about a real server, which has the last word (test/README.md says how to run the same tests on one).
 */
export const startKurrentDbDouble = async (
  options: KurrentDbDoubleOptions = {},
): Promise<KurrentDbDouble> => {
  const log = options.log ?? createDoubleLog();
  const faults = createDoubleFaults();
  const calls = { append: 0, batchAppend: 0, read: 0, subscribe: 0, features: 0 };
  let leader: KurrentDbDouble | undefined;

  const enter = async (call: DoubleCall, metadata: Metadata): Promise<Fault | undefined> => {
    calls[call] += 1;
    // As on the server, what it can do is told to anyone.
    if (call !== 'features' && !mayCall(options, metadata)) throw accessDeniedError();
    const fault = faults.take(call);
    if (fault?.kind === 'hold') await fault.until;
    if (fault?.kind === 'fail') throw rpcError(fault.code, fault.message);
    const needsLeader = metadata.get('requires-leader').includes('true');
    if (needsLeader && leader !== undefined) throw notLeaderError(leader);
    return fault;
  };
  const services: DoubleServices = {
    log,
    enter,
    observed: { starts: [], eventsSent: 0 },
    maxAppendSize: options.maxAppendSize ?? Number.MAX_SAFE_INTEGER,
    dropSlowAfter: options.dropSlowAfter ?? Number.MAX_SAFE_INTEGER,
  };
  let server = createServer(services, options.batchAppend ?? true);
  const port = await listen(server, options, 0);
  const query = options.tls === undefined ? '?tls=false&discoveryInterval=10' : '?discoveryInterval=10';
  return {
    host: '127.0.0.1',
    port,
    url: `kurrentdb://127.0.0.1:${port}${query}`,
    log,
    faults,
    calls,
    observed: services.observed,
    follow(node) {
      leader = node;
    },
    interrupt: () => server.forceShutdown(),
    async resume() {
      server = createServer(services, options.batchAppend ?? true);
      await listen(server, options, port);
    },
    stop: () => server.forceShutdown(),
  };
};

type FeaturesCall = ServerUnaryCall<unknown, featuresPb.SupportedMethods>;

const createServer = (services: DoubleServices, hasBatchAppend: boolean): Server => {
  const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  server.addService(streamsGrpc.StreamsService, {
    read: readCall(services),
    append: appendCall(services),
    batchAppend: batchAppendCall(services),
    delete: refuse,
    tombstone: refuse,
  });
  server.addService(serverFeatures.ServerFeaturesService, {
    getSupportedMethods(call: FeaturesCall, answer: sendUnaryData<featuresPb.SupportedMethods>) {
      services.enter('features', call.metadata).then(
        () => answer(null, supportedMethods(hasBatchAppend)),
        (error) => answer(error),
      );
    },
  });
  return server;
};

const refuse = (_call: unknown, answer: (error: Error) => void): void =>
  answer(rpcError(status.UNIMPLEMENTED, 'the double has no such call'));

const supportedMethods = (hasBatchAppend: boolean) => {
  const method = (name: string, features: string[] = []) =>
    new featuresPb.SupportedMethod()
      .setServiceName('event_store.client.streams.streams')
      .setMethodName(name)
      .setFeaturesList(features);
  const methods = [method('read', ['position', 'events']), method('append')];
  if (hasBatchAppend) methods.push(method('batchappend', ['deadline_duration']));
  return new featuresPb.SupportedMethods().setEventStoreServerVersion('25.1.0').setMethodsList(methods);
};

const mayCall = ({ credentials }: KurrentDbDoubleOptions, metadata: Metadata): boolean => {
  if (credentials === undefined) return true;
  const expected = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  return metadata.get('authorization').some((value) => value.toString() === `Basic ${expected}`);
};

const listen = (server: Server, { tls }: KurrentDbDoubleOptions, port: number): Promise<number> => {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ private_key: tls.key, cert_chain: tls.certificate }]);
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
};
