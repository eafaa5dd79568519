#!/bin/sh
exec store-init "$@"
