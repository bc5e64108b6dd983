// Writes src/api/protocol.ts and src/api/events.ts: the types of the protocol, from the OpenAPI document that the server's tables
// make. With --check, compares instead of writing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const document = join(import.meta.dirname, '../docs/protocol/openapi.json');
const { schemas } = JSON.parse(readFileSync(document, 'utf8')).components;

/** `event.block_left` is the type `BlockLeftEvent`. */
function typeName(schema) {
  const event = /^event\.(\w+)$/.exec(schema);
  if (!event) return schema;
  return `${event[1].replace(/(^|_)([a-z])/g, (_, __, letter) => letter.toUpperCase())}Event`;
}

const words = (schema) => (schema.description ? `/** ${schema.description.replaceAll('*/', '*\\/')} */` : '');
const joined = (types) => [...new Set(types)].join(' | ');
const nameOf = (property) => (/^[A-Za-z_]\w*$/.test(property) ? property : literal(property));
const literal = (value) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));
const indented = (text) => text.replace(/\n/g, '\n  ');

function objectType(schema) {
  if (!schema.properties) return '{ [name: string]: Json }';
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties).map(([name, property]) => {
    const line = `${nameOf(name)}${required.has(name) ? '' : '?'}: ${indented(typeOf(property))};`;
    const comment = words(property);
    return `  ${comment ? `${comment}\n  ` : ''}${line}\n`;
  });
  return `{\n${members.join('')}}`;
}

function arrayType(schema) {
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(', ')}]`;
  const items = schema.items ? typeOf(schema.items) : 'Json';
  return items.includes(' | ') ? `(${items})[]` : `${items}[]`;
}

const simple = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

function typeOf(schema) {
  if (schema.$ref) return typeName(schema.$ref.replace('#/components/schemas/', ''));
  if (schema.enum) return joined(schema.enum.map(literal));
  if ('const' in schema) return literal(schema.const);
  const all = schema.anyOf ?? schema.oneOf;
  if (all) return joined(all.map(typeOf));
  if (schema.type === undefined) return schema.properties ? objectType(schema) : 'Json';
  const types = [schema.type].flat();
  // What may be `true` as well as an object is itself a schema.
  if (types.join() === 'object,boolean') return 'Schema | boolean';
  return joined(
    types.map((type) => {
      if (type === 'object') return objectType(schema);
      if (type === 'array') return arrayType(schema);
      if (!simple[type]) throw new Error(`unknown type ${type}`);
      return simple[type];
    }),
  );
}

function declaration([name, schema]) {
  const comment = words(schema);
  const type = typeOf(schema);
  const isInterface = type.startsWith('{\n') && type.endsWith('\n}');
  const text = isInterface ? `export interface ${typeName(name)} ${type}` : `export type ${typeName(name)} = ${type};`;
  return `${comment ? `${comment}\n` : ''}${text}\n`;
}

const isEvent = ([name]) => name.startsWith('event.') || name === 'Event';
const declared = (kept) => Object.entries(schemas).filter(kept).map(declaration).join('\n');
const head = `// Generated from docs/protocol/openapi.json by studio/protocol_types.mjs, which is run again when that has changed. Names are those
// of its schemas`;
const files = {
  'src/api/protocol.ts': `${head}, in its order: what requests and replies contain, then lists of words. Events of a run: events.ts.
import type { Event } from './events';
import type { Json, Schema } from './values';

${declared((entry) => !isEvent(entry))}`,
  'src/api/events.ts': `${head}: BlockLeftEvent is event.block_left. What each means: docs/protocol/events.md.
import type { Json, Schema } from './values';

${declared(isEvent)}`,
};

for (const [name, text] of Object.entries(files)) {
  const file = join(import.meta.dirname, name);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`studio/${name} is older than docs/protocol/openapi.json: run \`node studio/protocol_types.mjs\``);
    process.exitCode = 1;
  }
}
