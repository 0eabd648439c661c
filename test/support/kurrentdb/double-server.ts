import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import gossipGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/gossip_grpc_pb.js';
import gossipPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/gossip_pb.js';
import serverFeatures from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_grpc_pb.js';
import featuresPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_pb.js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import streamsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import recordsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v2/streams/streams_grpc_pb.js';
import { appendCall, batchAppendCall } from './double-append.ts';
import { appendRecordsCall } from './double-append-records.ts';
import { rpcError, streamName } from './double-messages.ts';
import { readCall } from './double-read.ts';
import type { DoubleServices } from './double-services.ts';

type FeaturesCall = ServerUnaryCall<unknown, featuresPb.SupportedMethods>;

/** Key and certificate in PEM format. */
export type TlsIdentity = { readonly key: Buffer; readonly certificate: Buffer };

/** Abilities that depend on a server's version. */
export type DoubleAbilities = {
  readonly version: string;
  /** `AppendRecords`: KurrentDB 26.1 and later. */
  readonly appendRecords: boolean;
};

/** Creates the gRPC server of a node. It does not listen yet. */
export const createServer = (
  services: DoubleServices,
  gossip: () => Gossip,
  abilities: DoubleAbilities,
): Server => {
  const server = new Server({
    ...{ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 },
    // The default of Kestrel, the HTTP server of KurrentDB.
    'grpc.max_concurrent_streams': 100,
  });
  server.addService(streamsGrpc.StreamsService, {
    read: readCall(services),
    append: appendCall(services),
    batchAppend: batchAppendCall(services),
    delete(
      call: ServerUnaryCall<streamsPb.DeleteReq, streamsPb.DeleteResp>,
      answer: sendUnaryData<streamsPb.DeleteResp>,
    ) {
      services.log.delete(streamName(call.request.getOptions()?.getStreamIdentifier()));
      answer(
        null,
        new streamsPb.DeleteResp().setPosition(endOf(services, new streamsPb.DeleteResp.Position())),
      );
    },
    tombstone(
      call: ServerUnaryCall<streamsPb.TombstoneReq, streamsPb.TombstoneResp>,
      answer: sendUnaryData<streamsPb.TombstoneResp>,
    ) {
      services.log.tombstone(streamName(call.request.getOptions()?.getStreamIdentifier()));
      answer(
        null,
        new streamsPb.TombstoneResp().setPosition(endOf(services, new streamsPb.TombstoneResp.Position())),
      );
    },
  });
  server.addService(recordsGrpc.StreamsServiceService, {
    appendSession: refuse,
    appendRecords: abilities.appendRecords ? appendRecordsCall(services) : refuse,
  });
  server.addService(serverFeatures.ServerFeaturesService, {
    getSupportedMethods(call: FeaturesCall, answer: sendUnaryData<featuresPb.SupportedMethods>) {
      services.enter('features', call.metadata).then(
        () => answer(null, supportedMethods(abilities)),
        (error) => answer(error),
      );
    },
  });
  server.addService(gossipGrpc.GossipService, {
    read(_call: unknown, answer: sendUnaryData<gossipPb.ClusterInfo>) {
      answer(null, new gossipPb.ClusterInfo().setMembersList(gossip().map(memberInfo)));
    },
  });
  return server;
};

type PositionMessage<Message> = {
  setCommitPosition(value: string): Message;
  setPreparePosition(value: string): Message;
};

const endOf = <Message extends PositionMessage<Message>>(
  { log }: DoubleServices,
  message: Message,
): Message => {
  const position = `${log.records.at(-1)?.position ?? 0n}`;
  return message.setCommitPosition(position).setPreparePosition(position);
};

/** A node's view of the nodes of its cluster. */
export type Gossip = readonly {
  readonly node: { readonly host: string; readonly port: number };
  readonly isLeader: boolean;
  readonly alive: boolean;
}[];

const memberInfo = ({ node, isLeader, alive }: Gossip[number]) => {
  const { LEADER, FOLLOWER } = gossipPb.MemberInfo.VNodeState;
  const member = new gossipPb.MemberInfo().setIsAlive(alive).setState(isLeader ? LEADER : FOLLOWER);
  member.setInstanceId(new sharedPb.UUID().setString(crypto.randomUUID()));
  return member.setHttpEndPoint(new gossipPb.EndPoint().setAddress(node.host).setPort(node.port));
};

const refuse = (_call: unknown, answer: (error: Error) => void): void =>
  answer(rpcError(status.UNIMPLEMENTED, 'the double has no such call'));

const supportedMethods = ({ appendRecords, version }: DoubleAbilities) => {
  const method = (name: string, features: string[] = []) =>
    new featuresPb.SupportedMethod()
      .setServiceName('event_store.client.streams.streams')
      .setMethodName(name)
      .setFeaturesList(features);
  const methods = [method('read', ['position', 'events']), method('append')];
  methods.push(method('batchappend', ['deadline_duration']));
  if (appendRecords)
    methods.push(method('appendrecords').setServiceName('kurrentdb.protocol.v2.streams.streamsservice'));
  return new featuresPb.SupportedMethods().setEventStoreServerVersion(version).setMethodsList(methods);
};

/** Listens on a port, or on a free one for 0. Resolves to the port. */
export const listen = (server: Server, tls: TlsIdentity | undefined, port: number): Promise<number> => {
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
