// The feeds of gateways: name, purpose and settings of each.
import type { MessagesUnder } from '$lib/i18n/index.svelte'
import { gatewayInputFeedValues } from '$lib/api/schema'

export type FeedName = (typeof gatewayInputFeedValues)[number]
export type FeedKind = MessagesUnder<'sources.kind'>

/** A common setting: authentication of requests, or the source that the server polls. */
export interface Setting {
  name: MessagesUnder<'sources.setting'>
  isRequired?: boolean
  /** Several values, separated by commas or blanks. */
  isList?: boolean
}

export interface Feed {
  name: FeedName
  /** As the provider writes it. */
  title: string
  kind: FeedKind
  settings: Setting[]
  /** There is no URL to enter: the server polls the messages, or only sends some. */
  hasNoUrl?: boolean
}

/** Includes feeds that this version of the server may not have. */
const known: Record<string, Omit<Feed, 'name' | 'settings'> & { settings?: Setting[] }> = {
  osmand: { title: 'OsmAnd, Traccar Client', kind: 'phone' },
  owntracks: { title: 'OwnTracks', kind: 'phone' },
  overland: { title: 'Overland', kind: 'phone' },
  gpslogger: { title: 'GPSLogger', kind: 'phone' },
  garmin: {
    title: 'Garmin inReach (IPC Outbound)',
    kind: 'satellite',
    settings: [{ name: 'token' }, { name: 'sendUrl' }, { name: 'sendKey' }, { name: 'sender' }]
  },
  'garmin-mapshare': {
    title: 'Garmin inReach (MapShare)',
    kind: 'satellite',
    settings: [{ name: 'mapShare', isRequired: true }, { name: 'password' }],
    hasNoUrl: true
  },
  'garmin-history': {
    title: 'Garmin inReach (IPC Inbound, history)',
    kind: 'satellite',
    settings: [
      { name: 'url', isRequired: true },
      { name: 'apiKey', isRequired: true },
      { name: 'imeis', isRequired: true, isList: true }
    ],
    hasNoUrl: true
  },
  spot: { title: 'SPOT (data push)', kind: 'satellite' },
  'spot-feed': {
    title: 'SPOT (shared page)',
    kind: 'satellite',
    settings: [{ name: 'feedId', isRequired: true }, { name: 'password' }],
    hasNoUrl: true
  },
  zoleo: { title: 'ZOLEO', kind: 'satellite' },
  cloudloop: { title: 'Cloudloop (Ground Control)', kind: 'satellite', settings: [{ name: 'sendToken' }] },
  directip: {
    title: 'Iridium DirectIP (sending)',
    kind: 'satellite',
    settings: [{ name: 'sendAddress', isRequired: true }],
    hasNoUrl: true
  },
  rockblock: {
    title: 'RockBLOCK, Rock7 Core',
    kind: 'satellite',
    settings: [{ name: 'key' }, { name: 'sendUser' }, { name: 'sendPassword' }]
  },
  globalstar: { title: 'Globalstar (SmartOne, AtlasTrax)', kind: 'satellite' },
  somewear: { title: 'Somewear', kind: 'satellite' },
  bullitt: { title: 'Bullitt Satellite Connect', kind: 'satellite' },
  myriota: { title: 'Myriota', kind: 'satellite' },
  ttn: { title: 'The Things Stack (TTN v3)', kind: 'network' },
  chirpstack: { title: 'ChirpStack', kind: 'network' },
  sigfox: { title: 'Sigfox', kind: 'network' },
  flespi: { title: 'flespi', kind: 'network' },
  json: { title: 'JSON webhook', kind: 'own' }
}

/** The feed with this name; an unknown feed is shown by its name. */
export const feedOf = (name: string): Feed => ({
  name: name as FeedName,
  title: name,
  kind: 'network',
  settings: [],
  ...known[name]
})

/** Whether the server has a feed. */
export const hasFeed = (name: string): name is FeedName => gatewayInputFeedValues.some((one) => one === name)

/** Options of a gateway from the values of its fields. */
export function optionsOf(feed: Feed, typed: Record<string, string>): Record<string, string | string[]> {
  const filled = feed.settings.flatMap(({ name, isList }): [string, string | string[]][] => {
    const value = typed[name]?.trim() ?? ''
    if (value === '') return []
    return [[name, isList ? value.split(/[\s,;]+/).filter((one) => one !== '') : value]]
  })
  return Object.fromEntries(filled)
}

/** Feeds with binary payloads of devices, which templates decode. */
const withPayload = ['garmin', 'cloudloop', 'rockblock', 'globalstar', 'myriota', 'json', 'iridium']
export const hasPayload = (source: string): boolean => withPayload.includes(source)

/** All feeds in the order they are offered. */
export const feeds: Feed[] = [...new Set([...Object.keys(known), ...gatewayInputFeedValues])]
  .filter(hasFeed)
  .map(feedOf)

export const kinds: FeedKind[] = ['phone', 'satellite', 'network', 'own']

/** Protocols of trackers, with their usual ports. */
export const protocols = [
  { name: 'gt06', title: 'GT06 (Concox, Jimi)', port: 5023 },
  { name: 'teltonika', title: 'Teltonika', port: 5027 },
  { name: 'queclink', title: 'Queclink', port: 5004 },
  { name: 'jt808', title: 'JT/T 808', port: 5015 },
  { name: 'h02', title: 'H02', port: 5013 },
  { name: 'gps103', title: 'GPS103 (Coban)', port: 5001 },
  { name: 'tk103', title: 'TK103', port: 5002 },
  { name: 'suntech', title: 'Suntech', port: 5011 },
  { name: 'meitrack', title: 'Meitrack', port: 5020 },
  { name: 'ruptela', title: 'Ruptela', port: 5046 },
  { name: 'wialon-ips', title: 'Wialon IPS', port: 5039 },
  { name: 'calamp', title: 'CalAmp LM Direct', port: 5082 },
  { name: 'iridium', title: 'Iridium SBD DirectIP', port: 10800 }
] as const

/** The display name of the source of a message: a protocol or a feed. */
export const sourceTitle = (name: string): string =>
  protocols.find((protocol) => protocol.name === name)?.title ?? feedOf(name).title
