//go:build cgo && linux

package dcgm

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

// NODELETE keeps the library in memory: go-dcgm closes it at the end of each connection,
// also when the library's own threads could not be stopped because the engine was gone.
static void *sextant_open(const char *name) { return dlopen(name, RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE); }
static const char *sextant_error(void) { return dlerror(); }
static int sextant_has(void *lib, const char *name) { return dlsym(lib, name) != NULL; }
static void sextant_shutdown(void *lib) {
	int (*f)(void) = (int (*)(void))dlsym(lib, "dcgmShutdown");
	if (f) f();
}
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

const libraryName = "libdcgm.so.4"

// calls are the functions of the library that are called. A call of one that is not there
// would end the process, so all are looked for first.
var calls = []string{"dcgmInit", "dcgmShutdown", "dcgmConnect_v2", "dcgmDisconnect", "dcgmStartEmbedded", "dcgmStopEmbedded",
	"errorString", "dcgmHostengineVersionInfo", "dcgmGetEntityGroupEntities", "dcgmGetAllSupportedDevices", "dcgmGetGpuStatus",
	"dcgmGetGpuInstanceHierarchy", "dcgmGetCpuHierarchy", "dcgmGetNvLinkLinkStatus", "dcgmGetDeviceTopology",
	"dcgmGroupCreate", "dcgmGroupDestroy", "dcgmGroupAddEntity", "dcgmFieldGroupCreate", "dcgmFieldGroupDestroy",
	"dcgmWatchFields", "dcgmUnwatchFields", "dcgmUpdateAllFields", "DcgmFieldGetById", "dcgmEntityGetLatestValues",
	"dcgmEntitiesGetLatestValues", "dcgmGetValuesSince_v2", "dcgmProfGetSupportedMetricGroups", "dcgmHealthSet", "dcgmHealthCheck"}

// library is libdcgm.so.4 in this process, once open, for its life.
var library struct {
	sync.Mutex
	handle unsafe.Pointer // guarded by the mutex
	inUse  bool           // a connection stands; guarded by the mutex
}

// openLibrary finds the library. A library that was installed meanwhile is found by a
// later call.
func openLibrary() error {
	library.Lock()
	defer library.Unlock()
	if library.handle != nil {
		return nil
	}
	name := C.CString(libraryName)
	defer C.free(unsafe.Pointer(name))
	lib := C.sextant_open(name)
	if lib == nil {
		return fmt.Errorf("%s cannot be loaded (is the package datacenter-gpu-manager-4-core installed?): %s", libraryName, C.GoString(C.sextant_error()))
	}
	var missing []string
	for _, f := range calls {
		sym := C.CString(f)
		if C.sextant_has(lib, sym) == 0 {
			missing = append(missing, f)
		}
		C.free(unsafe.Pointer(sym))
	}
	if missing != nil {
		return fmt.Errorf("%s is too old, it has no %s", libraryName, strings.Join(missing, ", "))
	}
	library.handle = lib
	return nil
}

// errBusy is returned for a second connection of the process.
var errBusy = errors.New("the DCGM library of this process is in use by another collector")

// acquire takes the library's only connection.
func acquire() error {
	library.Lock()
	defer library.Unlock()
	if library.inUse {
		return errBusy
	}
	library.inUse = true
	return nil
}

// release gives it back.
func release() {
	library.Lock()
	defer library.Unlock()
	library.inUse = false
}

// stopLibrary does what go-dcgm leaves out where connecting or disconnecting failed.
func stopLibrary() {
	library.Lock()
	defer library.Unlock()
	C.sextant_shutdown(library.handle)
}
