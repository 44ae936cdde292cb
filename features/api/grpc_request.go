package api

import (
	"fmt"
	"strconv"

	"sextant/features/api/feastpb/feast/serving"
	"sextant/features/api/feastpb/feast/types"
)

// grpcRequest is a request over gRPC as one over HTTP, with the same limits.
func grpcRequest(m *serving.GetOnlineFeaturesRequest, limits Limits) (*request, error) {
	req := &request{FullFeatureNames: truth(m.FullFeatureNames), ViewMetadata: truth(m.IncludeFeatureViewVersionMetadata), keys: make(map[string][]string, len(m.Entities))}
	switch kind := m.Kind.(type) {
	case *serving.GetOnlineFeaturesRequest_FeatureService:
		req.FeatureService = &kind.FeatureService
	case *serving.GetOnlineFeaturesRequest_Features:
		req.Features = kind.Features.GetVal()
	}
	if len(m.RequestContext) > 0 {
		return nil, badRequest("request_context: there are no on-demand features that would read it")
	}
	if err := req.check(len(m.Entities), limits); err != nil {
		return nil, err
	}
	for _, key := range sortedKeys(m.Entities) {
		values, err := grpcKeys(m.Entities[key].GetVal(), limits.Entities)
		if err != nil {
			return nil, badRequest("entities: %s: %v", clip(key), err)
		}
		req.keys[key] = values
	}
	return req, nil
}

// grpcKeys reads the values of a join key: strings, or integers as their digits, as over HTTP.
func grpcKeys(values []*types.Value, limit int) ([]string, error) {
	if len(values) > limit {
		return nil, fmt.Errorf("more than %d", limit)
	}
	keys := make([]string, len(values))
	for i, v := range values {
		switch v := v.GetVal().(type) {
		case *types.Value_StringVal:
			keys[i] = v.StringVal
		case *types.Value_Int64Val:
			keys[i] = strconv.FormatInt(v.Int64Val, 10)
		case *types.Value_Int32Val:
			keys[i] = strconv.FormatInt(int64(v.Int32Val), 10)
		default:
			return nil, fmt.Errorf("entity %d: want a string", i)
		}
		if len(keys[i]) > maxValue {
			return nil, fmt.Errorf("entity %d: longer than %d bytes", i, maxValue)
		}
	}
	return keys, nil
}
