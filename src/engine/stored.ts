// Payloads and results are kept as JSON. These are the types that come back.

/** What JSON makes of a value: a date becomes its text, functions and symbols are left out. */
export type Json<T> = 0 extends 1 & T
  ? T
  : T extends { toJSON(...given: never[]): infer Written }
    ? Json<Written>
    : T extends readonly unknown[]
      ? { [K in keyof T]: Json<T[K]> }
      : T extends object
        ? { [K in keyof T as K extends symbol ? never : T[K] extends Unwritten ? never : K]: Json<T[K]> }
        : T

type Unwritten = symbol | ((...given: never[]) => unknown)

/** A value as the task has it: none at all is null. */
export type Stored<T> = Json<Exclude<Exclude<T, undefined>, void>> | ([T & undefined] extends [never] ? never : null)
