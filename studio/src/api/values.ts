/** A value of a program as plain JSON. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A JSON Schema, as far as the studio makes forms of it. */
export interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema | boolean>;
  required?: string[];
  items?: Schema | boolean;
  enum?: Json[];
  const?: Json;
  anyOf?: (Schema | boolean)[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}
