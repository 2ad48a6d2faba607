import 'reflect-metadata';

export { serveSessions } from './serve-sessions.js';
