export { Health, type ReadinessCheck } from './health.js';
