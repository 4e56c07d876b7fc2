"""The logger "pitot.metrics" and its two levels below INFO, registered in `logging`."""
import logging

DEBUG_PROFILING = 11
DEBUG_PERFORMANCE = 12

logging.addLevelName(DEBUG_PROFILING, 'DEBUG_PROFILING')
logging.addLevelName(DEBUG_PERFORMANCE, 'DEBUG_PERFORMANCE')
logger = logging.getLogger('pitot.metrics')
