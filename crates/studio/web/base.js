// What every module uses: markup as tagged templates, and signals.

import { h, render, Component } from "./vendor-preact.js";
import { useState, useEffect, useRef, useMemo, useCallback, useLayoutEffect } from "./vendor-hooks.js";
import { signal, computed, effect, batch, useSignal, useComputed, useSignalEffect } from "./vendor-signals.js";
import htm from "./vendor-htm.js";

export const html = htm.bind(h);
export {
  h, render, Component, useState, useEffect, useRef, useMemo, useCallback, useLayoutEffect,
  signal, computed, effect, batch, useSignal, useComputed, useSignalEffect,
};

/** Joins the names of classes that are set. */
export const names = (...all) => all.filter(Boolean).join(" ");

/** Calls `work` once `wait` milliseconds have passed without another call. */
export function debounced(wait, work) {
  let timer = 0;
  const later = (...all) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...all), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** What this browser remembers; nothing if it forbids that. */
export const memory = {
  get(name) {
    try { return JSON.parse(localStorage.getItem(`platen.${name}`) ?? "null"); } catch { return null; }
  },
  set(name, value) {
    try {
      if (value === null) localStorage.removeItem(`platen.${name}`);
      else localStorage.setItem(`platen.${name}`, JSON.stringify(value));
      return true;
    } catch { return false; }
  },
};
