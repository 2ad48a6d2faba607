export {
  hasPart,
  type ProcessPart,
  portVariableOf,
  SERVICE_NAMES,
  SERVICES,
  type Service,
  type ServiceName,
  servicesWith,
} from './services.js';
